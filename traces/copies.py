"""A redacted copy of a trace, or of a part of it: rows and pictures of its own, which never change."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q, Sum
from django.utils import timezone

from .blobs import BlobStore
from .bulk import reserve
from .drafts import NAME, plain
from .events import Kind
from .export.base import Progress, Scope, Silent
from .models import Event, Reference, Trace
from .payloads import EventId, Json
from .queries import head_of, nodes
from .safe import Redaction, SafeBlobs
from .storage import default_store
from .structure import STRUCTURE, VOCABULARY
from .tree import Tree

CHUNK = 200
LONGEST_BATCH = 100


def events_in(trace: Trace, scope: Scope) -> list[EventId]:
    """In order. A part begins with the reply that asked for its first action. Raises ValueError for no such branch."""
    known = sorted(nodes(trace.pk), key=lambda node: node.seq)
    if not scope.branch:
        return [node.id for node in known]
    head = head_of(trace.pk, scope.branch)
    if head is None:
        raise ValueError(f"There is no branch “{scope.branch}”.")
    seqs = {node.id: node.seq for node in known}
    path = [event for event in Tree(known).path(head) if not scope.last or seqs[event] <= scope.last]
    before = [event for event in path if seqs[event] < scope.first]
    return path[len(before) - _asked_before(before[-LONGEST_BATCH:], path[len(before) :]) :]


def _asked_before(before: Sequence[EventId], rest: Sequence[EventId]) -> int:
    """How many events back the reply is that asked for the first of the rest; 0 when nobody did."""
    kinds = dict(Event.objects.filter(pk__in=[*before, *rest[:1]]).values_list("pk", "kind"))
    if not rest or kinds[rest[0]] != Kind.ACTION:
        return 0
    back = next((number for number, event in enumerate(reversed(before)) if kinds[event] != Kind.ACTION), -1)
    return back + 1


class Copier:
    def __init__(
        self,
        source: Trace,
        scope: Scope,
        redaction: Redaction,
        progress: Progress | None = None,
        blobs: BlobStore | None = None,
        began: Callable[[Trace], None] = lambda copy: None,
    ) -> None:
        """`began` is told of the copy in the transaction that begins it."""
        self.source, self.scope, self.hider, self.began = source, scope, redaction.hider, began
        self.progress = progress or Silent()
        self.blobs = SafeBlobs(source, redaction, blobs or default_store())
        self._ids: dict[int, int] = {}

    def make(self) -> Trace:
        """Raises ValueError for an empty scope, DiskFull, and what mask and progress raise; then nothing is left."""
        wanted = events_in(self.source, self.scope)
        if not wanted:
            raise ValueError("There is nothing in this part of the trace.")
        self.progress.expect(len(wanted), "Looking for what must be hidden")
        with transaction.atomic():
            copy = self._begin()
            self.began(copy)
        try:
            for start in range(0, len(wanted), CHUNK):
                self._add(copy, Event.objects.filter(pk__in=wanted[start : start + CHUNK]).order_by("seq").defer("raw"))
            self._end(copy)
        except BaseException:
            copy.delete()
            raise
        return copy

    def _begin(self) -> Trace:
        source = self.source
        meta = {key: value for key, value in source.meta.items() if key != "task"}
        return Trace.objects.create(
            owner_id=source.owner_id,
            title=plain(self.hider.text(source.title), 200),
            version=source.version,
            meta=self._clean(meta),
            state=source.state if source.ended_at else "",
            copy_of=source.pk,
            created_at=source.created_at,
            ended_at=source.ended_at or timezone.now(),
        )

    def _add(self, copy: Trace, events: Iterable[Event]) -> None:
        found = list(events)
        for event in found:
            self.blobs.take(event)
            self.progress.advance()
        named = {sha256 for event in found for sha256 in self.blobs.of(event)}
        with transaction.atomic():
            for event, fresh in zip(found, reserve(len(found)), strict=True):
                self._become(event, copy, fresh)
            Event.objects.bulk_create(found)
            known = set(Reference.objects.filter(trace=copy, blob__in=named).values_list("blob_id", flat=True))
            Reference.objects.bulk_create(Reference(trace=copy, blob_id=sha256) for sha256 in sorted(named - known))

    def _become(self, event: Event, copy: Trace, fresh: int) -> None:
        hidden, self._ids[event.pk] = self.hider.hidden, fresh
        parent = self._ids.get(event.parent_id) if event.parent_id else None
        event.name = plain(self.hider.text(event.name), NAME)
        event.data, event.act, event.result = (self._clean(part) for part in (event.data, event.act, event.result))
        event.before, event.after = (self._clean(sha256) for sha256 in (event.before, event.after))
        if event.kind == Kind.POLICY:
            event.data["action"] = self._ids.get(event.data["action"])
        event.raw, event.op_id, event.hidden = None, "", event.hidden + self.hider.hidden - hidden
        event.pk, event.trace, event.parent_id, event._state.adding = fresh, copy, parent, True

    def _end(self, copy: Trace) -> None:
        begun = Count("pk", filter=Q(kind=Kind.ACTION, started_at__isnull=False))
        sums = Event.objects.filter(trace=copy).aggregate(
            steps=begun, tokens=Sum("tokens"), cost=Sum("cost"), next_seq=Max("seq") + 1, revision=Max("revision")
        )
        size = Reference.objects.filter(trace=copy).aggregate(size=Sum("blob__size"))["size"]
        self.blobs.report.text = dict(self.hider.counts)
        meta = {**copy.meta, "hidden": self.blobs.report.to_json()}
        Trace.objects.filter(pk=copy.pk).update(**sums, bytes=size or 0, meta=meta)
        copy.refresh_from_db()

    def _clean(self, value: Json, key: str = "") -> Any:
        """What the format itself says stays, even when it is one of the words."""
        if isinstance(value, str):
            other = self.blobs.instead(value)
            if other is None:
                return value if value in VOCABULARY.get(key, ()) else self.hider.text(value)
            return other
        if isinstance(value, dict):
            return {self._key(name): self._clean(inner, name) for name, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self._clean(inner, key) for inner in value]
        return value

    def _key(self, name: str) -> str:
        return name if name in STRUCTURE else self.hider.text(name)
