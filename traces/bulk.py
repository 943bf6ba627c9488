"""Whole traces at once, where `ledger.py` would write one event at a time."""

from collections.abc import Collection, Sequence

from django.db import connection
from django.db.models import F
from django.utils import timezone

from .models import Blob, Event, Reference, Trace

BATCH = 500


def reserve(count: int) -> list[int]:
    """Ids for new events, so that they can name each other before they are written. Inside a transaction."""
    table = Event._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count]
            )
            return [row[0] for row in cursor.fetchall()]
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        last = cursor.fetchone()
    first = (last[0] if last else 0) + 1
    return list(range(first, first + count))


def write(trace: Trace, events: Sequence[Event], blobs: Collection[Blob]) -> None:
    """All of a trace that has none yet, with the totals that follow from it. Inside a transaction."""
    for blob in blobs:
        blob.used_at = timezone.now()
    Blob.objects.bulk_create(blobs, update_conflicts=True, update_fields=["used_at"], unique_fields=["sha256"])
    Event.objects.bulk_create(events, BATCH)
    Reference.objects.bulk_create([Reference(trace=trace, blob=blob) for blob in blobs], BATCH)
    Trace.objects.filter(pk=trace.pk).update(
        next_seq=max(event.seq for event in events) + 1,
        revision=max(event.revision for event in events),
        steps=sum(event.kind == "action" and event.started_at is not None for event in events),
        tokens=sum(event.tokens for event in events),
        cost=sum(event.cost for event in events),
        bytes=F("bytes") + sum(blob.size for blob in blobs),
    )
