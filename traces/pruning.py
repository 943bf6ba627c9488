"""One branch of a trace goes: its events, and whatever nothing else in the trace names."""

from collections.abc import Collection, Iterator

from django.db import transaction
from django.db.models import F, QuerySet, Sum

from . import publish
from .material import texts
from .models import Blob, Event, Reference, Trace

CHUNK = 500


def beginning_on(trace_id: str, branch: str) -> list[str]:
    """The other branches whose first event follows one of this branch."""
    after = Event.objects.filter(trace=trace_id, parent__branch=branch).exclude(branch=branch)
    return sorted(set(after.values_list("branch", flat=True)))


def freed_by(trace_id: str, branch: str, keep: Collection[str] = ()) -> int:
    """The bytes that its end gives back: neither other branches, nor `keep`, nor other traces name them."""
    return _freed(trace_id, _lonely(trace_id, branch, keep))


def drop(trace_id: str, branch: str, keep: Collection[str] = ()) -> int:
    """The bytes that this gives back. What the branch has cost stays counted. Others must not begin on it."""
    with transaction.atomic():
        trace = Trace.objects.select_for_update().get(pk=trace_id)
        gone = _lonely(trace_id, branch, keep)
        freed = _freed(trace_id, gone)
        Event.objects.filter(trace=trace_id, branch=branch).delete()
        size = 0
        for part in _chunks(gone):
            named = Reference.objects.filter(trace=trace_id, blob__in=part)
            size += named.aggregate(size=Sum("blob__size"))["size"] or 0
            named.delete()
        Trace.objects.filter(pk=trace_id).update(bytes=F("bytes") - size, revision=F("revision") + 1)
        publish.trace_changed(trace_id, trace.next_seq - 1)
    return freed


def _lonely(trace_id: str, branch: str, keep: Collection[str]) -> list[str]:
    known = set(Reference.objects.filter(trace=trace_id).values_list("blob_id", flat=True))
    events = Event.objects.filter(trace=trace_id).order_by()
    mine = _named(events.filter(branch=branch), known)
    return sorted(mine - _named(events.exclude(branch=branch), mine) - set(keep))


def _named(events: QuerySet[Event], known: Collection[str]) -> set[str]:
    rows = events.values_list("before", "after", "data", "result").iterator(CHUNK)
    return {text for row in rows for text in texts(list(row)) if text in known}


def _freed(trace_id: str, blobs: list[str]) -> int:
    total = 0
    for part in _chunks(blobs):
        elsewhere = Reference.objects.filter(blob__in=part).exclude(trace=trace_id).values("blob")
        total += Blob.objects.filter(pk__in=part).exclude(pk__in=elsewhere).aggregate(size=Sum("size"))["size"] or 0
    return total


def _chunks(names: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(names), CHUNK):
        yield names[start : start + CHUNK]
