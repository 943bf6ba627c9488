"""A trace in the database as exporters see it: within a scope, clean, and known by its own numbers."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import IO, Any

from django.conf import settings
from django.utils.module_loading import import_string

from .blobs import HEAD, BlobStore
from .cleaning import Cleaner
from .errors import Damaged, NotPossible
from .events import Kind, Recorded
from .export.base import Facts, Held, Progress, Scope
from .models import Blob, Event, Trace
from .payloads import EventId, Json, Sha256
from .pictures import Masked
from .queries import all_events, light_path, nodes
from .storage import default_store
from .tree import Lane, Node, Tree


def cleaner_for(trace_id: str) -> Cleaner:
    cleaner = import_string(settings.TRACE_CLEANER)(trace_id)
    assert isinstance(cleaner, Cleaner)
    return cleaner


class StoredMaterial:
    """A Material; what each method gives is written there."""

    def __init__(
        self, trace: Trace, scope: Scope | None = None, cleaner: Cleaner | None = None, store: BlobStore | None = None
    ) -> None:
        """Raises NotPossible for a branch or a range that does not exist."""
        self._trace = trace
        self._scope = scope or Scope()
        self._cleaner = cleaner or cleaner_for(trace.pk)
        self._store = store or default_store()
        self._known = {Sha256(blob.pk): blob for blob in Blob.objects.filter(references__trace=trace)}
        self._names: dict[Sha256, Sha256] = {}
        self._clean: dict[Sha256, Held] = {}
        self._nodes = {node.id: node for node in nodes(trace.pk)}
        self._tree = Tree(self._nodes.values())
        self._seqs = {node.id: EventId(node.seq) for node in self._in_scope()}

    @cached_property
    def facts(self) -> Facts:
        trace = self._trace
        title, meta = self._cleaner.json([trace.title, trace.meta])
        return Facts(trace.pk, title, trace.state, meta, trace.created_at, trace.ended_at)

    def lanes(self) -> Sequence[Lane]:
        """As they are in the trace, but with numbers for ids."""
        wanted = [self._scope.branch] if self._scope.branch else [lane.branch for lane in self._lanes.values()]
        return [self._numbered(self._lanes[branch]) for branch in wanted]

    def events(self) -> Iterator[Recorded]:
        return (self._shown(event) for event in all_events(self._trace.pk) if event.id in self._seqs)

    def path(self, branch: str) -> list[Recorded]:
        events = light_path(self._trace.pk, self._lanes[branch].last)
        return [self._shown(event) for event in events if event.id in self._seqs]

    def best(self) -> str:
        if self._scope.branch:
            return self._scope.branch
        passed = Event.objects.filter(trace=self._trace, kind=Kind.VERIFY, ok=True).order_by("-seq").first()
        return passed.branch if passed else next(iter(self._lanes))

    def named(self, event: Recorded) -> Sequence[Sha256]:
        found = texts([event.before, event.after, event.data, event.result])
        known = (Sha256(text) for text in found if text in self._known or text in self._clean)
        return list(dict.fromkeys(known))

    def blob(self, sha256: Sha256) -> Held:
        return self._clean[sha256] if sha256 in self._clean else self._held(sha256)

    def count(self) -> int:
        return len(self._seqs)

    def clean(self, text: str) -> str:
        cleaned: str = self._cleaner.json(text)
        return cleaned

    def write_page(self, out: IO[str], progress: Progress, *, small: bool) -> None:
        import_string(settings.TRACE_PAGE)(self, out, progress, small=small)

    @cached_property
    def _lanes(self) -> dict[str, Lane]:
        return {lane.branch: lane for lane in self._tree.lanes()}

    def _in_scope(self) -> list[Node]:
        scope = self._scope
        if not self._nodes:
            raise NotPossible("There is nothing in this trace yet.")
        if scope.branch and scope.branch not in self._lanes:
            raise NotPossible(f"There is no branch “{scope.branch}” in this trace.")
        path = self._tree.path(self._lanes[scope.branch].last) if scope.branch else list(self._nodes)
        last = scope.last or self._nodes[path[-1]].seq
        inside = [self._nodes[pk] for pk in path if scope.first <= self._nodes[pk].seq <= last]
        if not inside:
            raise NotPossible("There is no step between these two.")
        return inside

    def _numbered(self, lane: Lane) -> Lane:
        forked = self._number(lane.forked_at) if lane.forked_at is not None else None
        return replace(lane, first=self._number(lane.first), last=self._number(lane.last), forked_at=forked)

    def _number(self, event: EventId) -> EventId:
        return EventId(self._nodes[event].seq)

    def _shown(self, event: Recorded) -> Recorded:
        event = self._cleaner.clean(event)
        data = event.data
        if event.kind == Kind.POLICY and data.get("action") is not None:
            data = {**data, "action": self._seqs.get(data["action"])}
        parent = self._seqs.get(event.parent) if event.parent is not None else None
        event = replace(event, id=EventId(event.seq), parent=parent, data=data)
        return self._with_clean_blobs(event)

    def _with_clean_blobs(self, event: Recorded) -> Recorded:
        names = {sha256: self._clean_name(sha256) for sha256 in self.named(event)}
        if all(old == new for old, new in names.items()):
            return event
        before, after, data, result = _renamed([event.before, event.after, event.data, event.result], names)
        return replace(event, before=before, after=after, data=data, result=result)

    def _clean_name(self, sha256: Sha256) -> Sha256:
        """What the blob is called once nothing is in it that must be hidden. Such bytes are kept for an hour.

        One that is packed is called by the bytes that it has now.
        """
        if sha256 not in self._names:
            held = self._held(sha256)
            self._names[sha256] = name = self._store.content(sha256, held.media_type)
            if name != sha256:
                self._clean[name] = replace(held, sha256=name, size=held.size - HEAD)
            if self._cleaner.looks_at(held.media_type, held.size):
                masked = self._cleaner.clean_blob(held.read(), held.media_type)
                if masked.hidden:
                    self._names[sha256] = self._keep_clean(held, masked)
        return self._names[sha256]

    def _keep_clean(self, held: Held, masked: Masked) -> Sha256:
        name, size = self._store.add(masked.data, masked.media_type)
        opened = partial(self._store.open, name, masked.media_type)
        self._clean[name] = Held(name, masked.media_type, size, held.width, held.height, opened)
        return name

    def _held(self, sha256: Sha256) -> Held:
        if sha256 not in self._known:
            raise Damaged(f"Nothing is stored under {sha256}.")
        return held_of(self._known[sha256], self._store)


def held_of(blob: Blob, store: BlobStore) -> Held:
    sha256 = Sha256(blob.pk)
    opened = partial(store.open, sha256, blob.media_type)
    return Held(sha256, blob.media_type, blob.size, blob.width, blob.height, opened)


def texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from texts(list(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from texts(item)


def _renamed(value: Any, names: dict[Sha256, Sha256]) -> Any:
    if isinstance(value, str):
        return names.get(Sha256(value), value)
    if isinstance(value, dict):
        return {key: _renamed(item, names) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_renamed(item, names) for item in value]
    return value
