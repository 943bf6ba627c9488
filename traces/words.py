"""What steps are found by, brought up to date when somebody searches: a trace that grows costs what was added."""

from collections.abc import Iterator, Sequence

from django.db.models import Max

from .events import Actor, Kind, Recorded
from .models import Event, Trace, Words
from .payloads import Json
from .queries import changes_after, events_with
from .steps import Step, steps_of

BATCH = 2000
LONGEST = 20_000
"""Characters of a step: the output of a command can be a book."""


def update(trace_id: str) -> None:
    """Revisions are written in order, so all up to the highest one known here are."""
    newest = Trace.objects.filter(pk=trace_id).values_list("revision", flat=True).first() or 0
    known = Words.objects.filter(trace=trace_id).aggregate(newest=Max("revision"))["newest"] or 0
    while known < newest and (events := changes_after(trace_id, known, BATCH)):
        _write([words_of(trace_id, step) for step in _steps(trace_id, events)])
        known = events[-1].revision


def _write(rows: Sequence[Words]) -> None:
    columns = ["revision", "verb", "status", "picture", "text"]
    Words.objects.bulk_create(rows, BATCH, update_conflicts=True, update_fields=columns, unique_fields=["event"])


def _steps(trace_id: str, events: Sequence[Recorded]) -> list[Step]:
    """Each with its reply: events are read in order of change, so that may have come long before."""
    here = {event.id for event in events}
    parents = {event.parent for event in events if event.kind == Kind.ACTION and event.parent is not None} - here
    replies = {event.id for event in events if event.kind == Kind.MESSAGE and event.actor == Actor.AGENT}
    asking = set(Event.objects.filter(parent__in=replies, kind=Kind.ACTION).values_list("parent_id", flat=True))
    known = events_with(trace_id, parents)
    return [step for step in steps_of([*events, *known]) if step.id in here and step.id not in asking]


def words_of(trace_id: str, step: Step) -> Words:
    said = [step.thought, step.said] if step.reply in (None, step.event.parent) else []
    text = "\n".join([step.sentence, *said, *_own(step.event)])[:LONGEST]
    return Words(
        event_id=step.id,
        trace_id=trace_id,
        revision=step.event.revision,
        verb=str((step.event.act or {}).get("action") or step.event.name or step.kind).lower()[:100],
        status=step.status,
        picture=step.after or "",
        text=_storable(text.lower()),
    )


def _storable(text: str) -> str:
    """Without what no database takes, and a model may well say: half of a surrogate pair, and NUL."""
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def _own(event: Recorded) -> Iterator[str]:
    yield event.name
    if event.kind == Kind.ACTION:
        result = event.result or {}
        yield from _texts(event.data.get("input"))
        yield str(result.get("text") or "")
        yield str((result.get("sent") or {}).get("text") or "")
    elif event.kind != Kind.MESSAGE:
        yield from _texts({key: value for key, value in event.data.items() if key not in HASHES})


HASHES = ("sha256", "snapshot", "picture")


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
