"""Finds steps of a trace by what was done, thought, said, seen and handed over."""

from dataclasses import dataclass, field
from typing import Any

from django.db.models import Q, QuerySet

from . import words
from .models import Event, ScreenText, Words
from .payloads import EventId
from .query import BadQuery, Query, parse
from .steps import Status

MOST = 10_000
TROUBLE = (Status.FAILED, Status.UNCERTAIN, Status.REFUSED)


@dataclass(frozen=True)
class Found:
    """`hits` are steps in order of seq, at most as many as were asked for; `count` is how many there are.

    `problem` is a sentence for a person, when the question makes no sense; then nothing was looked for.
    """

    count: int
    hits: list[EventId] = field(default_factory=list)
    problem: str = ""


def search(trace_id: str, query: str, limit: int = MOST) -> Found:
    """An empty question finds nothing."""
    try:
        asked = parse(query)
    except BadQuery as error:
        return Found(0, problem=str(error))
    if asked.empty:
        return Found(0)
    words.update(trace_id)
    hits = [EventId(pk) for pk in _matches(trace_id, asked).order_by("event__seq").values_list("pk", flat=True)]
    return Found(len(hits), hits[:limit])


def _matches(trace_id: str, asked: Query) -> QuerySet[Words]:
    found = Words.objects.filter(_facts(asked), _times(trace_id, asked), trace=trace_id)
    for word in asked.words:
        found = found.filter(Q(text__contains=word) | Q(picture__in=_screens(trace_id, word)))
    for text in asked.text:
        found = found.filter(picture__in=_screens(trace_id, text))
    return found


def _facts(asked: Query) -> Q:
    facts = Q()
    if asked.types:
        facts &= Q(verb__in=asked.types) | Q(event__name__in=asked.types) | Q(event__kind__in=asked.types)
    if asked.kinds:
        facts &= Q(event__kind__in=asked.kinds)
    if asked.by:
        facts &= Q(event__actor__in=asked.by)
    if asked.branches:
        facts &= Q(event__branch__in=asked.branches)
    if asked.error is not None:
        facts &= Q(status__in=TROUBLE) if asked.error else ~Q(status__in=TROUBLE)
    return facts


def _times(trace_id: str, asked: Query) -> Q:
    """An action that was never begun has no time."""
    times = Q()
    if asked.after is None and asked.before is None:
        return times
    begin = Event.objects.filter(trace=trace_id).order_by("seq").values_list("started_at", flat=True).first()
    if begin is None:
        return Q(pk=None)
    if asked.after is not None:
        times &= Q(event__started_at__gte=begin + asked.after)
    if asked.before is not None:
        times &= Q(event__started_at__lt=begin + asked.before)
    return times


def _screens(trace_id: str, text: str) -> QuerySet[ScreenText, Any]:
    """The pictures that show the text. SQLite knows the case of ASCII alone, so capitals are tried as well."""
    shown = Q(text__icontains=text)
    if not text.isascii():
        shown |= Q(text__icontains=text.upper()) | Q(text__icontains=text.title())
    return ScreenText.objects.filter(shown, blob__references__trace=trace_id).values("pk")
