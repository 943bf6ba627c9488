"""Writes a whole trace at once: one that came from elsewhere, or a copy of one that is here."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from django.db import transaction
from django.utils import timezone

from . import bulk
from .drafts import plain
from .events import Kind, Recorded
from .export.base import Facts
from .ledger import room
from .lifecycle import Person
from .models import Blob, Event, Reference, Trace

TITLE = 200
BATCH = 500


def write(owner: Person, facts: Facts, story: Iterable[Recorded], blobs: Sequence[Blob], *, copy_of: str = "") -> Trace:
    """A new trace with these events, which are known by their numbers, as a Material gives them.

    One transaction: all of it, or nothing. The bytes of the blobs are stored already. Raises DiskFull.
    """
    with room(), transaction.atomic():
        trace = Trace.objects.create(
            owner_id=owner.pk,
            title=plain(facts.title, TITLE) or "Trace",
            meta=facts.meta,
            state=facts.state,
            created_at=facts.created_at,
            ended_at=facts.ended_at,
            copy_of=copy_of,
        )
        written = _write_events(trace, iter(story))
        _refer(trace, blobs)
        Trace.objects.filter(pk=trace.pk).update(**written, bytes=sum(blob.size for blob in blobs))
    trace.refresh_from_db()
    return trace


def _write_events(trace: Trace, story: Iterator[Recorded]) -> dict[str, float]:
    """What the trace's row says of them all."""
    ids: dict[int, int] = {}
    counted = {"next_seq": 1, "revision": 0, "steps": 0, "tokens": 0, "cost": 0.0}
    while some := list(islice(story, BATCH)):
        ids |= zip((event.seq for event in some), bulk.reserve(len(some)), strict=True)
        rows = [_row(trace, event, ids) for event in some]
        for row in rows:
            counted["revision"] += 1
            row.revision = int(counted["revision"])
            counted["steps"] += row.kind == Kind.ACTION and row.started_at is not None
            counted["tokens"] += row.tokens
            counted["cost"] += row.cost
        Event.objects.bulk_create(rows)
        counted["next_seq"] = some[-1].seq + 1
    return counted


def _row(trace: Trace, event: Recorded, ids: Mapping[int, int]) -> Event:
    data = event.data
    if event.kind == Kind.POLICY:
        data = {**data, "action": ids.get(data["action"])}
    spent = data if event.kind in (Kind.MESSAGE, Kind.OBSERVATION) and "usage" in data else {}
    return Event(
        pk=ids[event.seq],
        trace=trace,
        seq=event.seq,
        branch=event.branch,
        parent_id=ids[event.parent] if event.parent is not None else None,
        actor=event.actor,
        kind=event.kind,
        turn=event.turn,
        name=event.name,
        data=data,
        fate=event.fate,
        ok=event.ok,
        op_id=event.op_id,
        act=event.act,
        result=event.result,
        raw=event.raw,
        before=event.before or "",
        after=event.after or "",
        tokens=sum(spent["usage"][key] for key in ("input", "output", "cache_read", "cache_write")) if spent else 0,
        cost=spent.get("cost") or 0,
        hidden=event.hidden,
        started_at=event.started_at,
        ended_at=event.ended_at,
        mono_ms=0,
    )


def _refer(trace: Trace, blobs: Sequence[Blob]) -> None:
    """Sorted, so that two writers never wait for each other; touched, so that none is swept away meanwhile."""
    ordered = sorted(blobs, key=lambda blob: blob.pk)
    for blob in ordered:
        blob.used_at = timezone.now()
    for start in range(0, len(ordered), BATCH):
        some = ordered[start : start + BATCH]
        Blob.objects.bulk_create(some, update_conflicts=True, update_fields=["used_at"], unique_fields=["sha256"])
        Reference.objects.bulk_create(Reference(trace=trace, blob_id=blob.pk) for blob in some)
