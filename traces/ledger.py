"""The only writer of events. Each write is one transaction: the guard, numbers without gaps, rows, and a hint."""

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import F
from django.utils import timezone

from . import publish
from .errors import Closed, DiskFull, Fenced
from .events import BEFORE, Fate
from .models import Blob, Event, Reference, Trace
from .payloads import EventId, Sha256

Guard = Callable[[], None]
"""Raises Fenced when the writer has lost its branch. Runs inside the transaction, so it can lock what it looks at."""

PG_DISK_FULL = "53100"


def now_ms() -> int:
    return time.monotonic_ns() // 1_000_000


@contextmanager
def room() -> Iterator[None]:
    """Turns a full disk of the database's into DiskFull."""
    try:
        yield
    except OperationalError as error:
        if _is_disk_full(error):
            raise DiskFull("The database has no room left: free some space on its disk, and carry on.") from error
        raise


class Ledger:
    """One branch of a trace, written after `head`."""

    def __init__(self, trace_id: str, branch: str, guard: Guard, head: EventId | None) -> None:
        self._trace_id = trace_id
        self._branch = branch
        self._guard = guard
        self.head = head
        self._given: dict[Sha256, Blob] = {}
        self._named: set[Sha256] = set()

    def give(self, blob: Blob) -> None:
        """Its row is written with the first event that names it."""
        self._given[Sha256(blob.pk)] = blob

    def append(self, events: Iterable[Event], blobs: Iterable[Sha256 | None] = ()) -> list[EventId]:
        """One after another, all or none. `blobs` are those that the events name. Raises Fenced, DiskFull."""
        drafts, head = list(events), self.head
        with self._transaction(blobs):
            seq, revision = self._count(drafts)
            for number, event in enumerate(drafts):
                event.trace_id, event.branch, event.parent_id = self._trace_id, self._branch, head
                event.seq, event.revision = seq + number, revision + number
                _insert(event)
                head = EventId(event.pk)
            publish.trace_changed(self._trace_id, drafts[-1].seq)
        self.head = head
        return [EventId(event.pk) for event in drafts]

    def move(
        self, action: EventId, fate: Fate, blobs: Iterable[Sha256 | None] = (), *, hidden: int = 0, **columns: Any
    ) -> None:
        """`hidden` more secrets were hidden. Raises Closed when the action may not become this any more; as append."""
        mine = Event.objects.filter(pk=action, trace=self._trace_id, branch=self._branch)
        with self._transaction(blobs):
            _, revision = self._count([], moves=1, steps=int(fate == Fate.INTENT))
            columns |= {"fate": fate, "revision": revision, "hidden": F("hidden") + hidden}
            if not mine.filter(fate__in=BEFORE[fate]).update(**columns):
                raise Closed(_why_not(mine.first(), fate))
            publish.trace_changed(self._trace_id, mine.values_list("seq", flat=True).get())

    @contextmanager
    def _transaction(self, blobs: Iterable[Sha256 | None]) -> Iterator[None]:
        names = {sha256 for sha256 in blobs if sha256} - self._named
        with room(), transaction.atomic():
            self._guard()
            yield
            self._refer(names)
        self._named |= names
        for sha256 in names:
            self._given.pop(sha256, None)

    def _count(self, events: Sequence[Event], *, moves: int = 0, steps: int = 0) -> tuple[int, int]:
        """The first of the new seqs and revisions. The trace's row stays locked until the transaction ends."""
        trace = Trace.objects.filter(pk=self._trace_id)
        written = len(events) + moves
        found = trace.update(
            next_seq=F("next_seq") + len(events),
            revision=F("revision") + written,
            steps=F("steps") + steps,
            tokens=F("tokens") + sum(event.tokens for event in events),
            cost=F("cost") + sum(event.cost for event in events),
        )
        if not found:
            raise Fenced("The trace has been deleted.")
        next_seq, revision = trace.values_list("next_seq", "revision").get()
        return next_seq - len(events), revision - written + 1

    def _refer(self, names: set[Sha256]) -> None:
        """Raises ValueError for a blob that nobody gave."""
        if not names:
            return
        self._write_blobs([self._given[sha256] for sha256 in sorted(names & self._given.keys())])
        trace = Trace.objects.filter(pk=self._trace_id)
        known = Reference.objects.filter(trace=self._trace_id, blob__in=names).values_list("blob_id", flat=True)
        fresh = Blob.objects.in_bulk(names - set(known))
        if missing := names - set(known) - fresh.keys():
            raise ValueError(f"Nobody gave the blob {min(missing)}.")
        Reference.objects.bulk_create(Reference(trace_id=self._trace_id, blob=blob) for blob in fresh.values())
        trace.update(bytes=F("bytes") + sum(blob.size for blob in fresh.values()))

    def _write_blobs(self, blobs: Sequence[Blob]) -> None:
        """Sorted, so that two writers never wait for each other; touched, so that none is swept away meanwhile."""
        for blob in blobs:
            blob.used_at = timezone.now()
        Blob.objects.bulk_create(blobs, update_conflicts=True, update_fields=["used_at"], unique_fields=["sha256"])


def _insert(event: Event) -> None:
    try:
        event.save(force_insert=True)
    except IntegrityError as error:
        raise Fenced("Somebody else has written to this branch: carry on from its last event.") from error


def _why_not(event: Event | None, fate: Fate) -> str:
    if event is None:
        return "There is no such action on this branch."
    return f"Action {event.seq} is {event.fate or 'none'}, and cannot become {fate}."


def _is_disk_full(error: OperationalError) -> bool:
    cause = error.__cause__
    return (
        getattr(cause, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL
        or getattr(cause, "sqlstate", None) == PG_DISK_FULL
    )
