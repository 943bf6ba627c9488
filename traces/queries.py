"""What pages, forks and workers that take over read from a trace."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet, Sum

from .blobs import BlobStore
from .errors import Damaged
from .events import Actor, Fate, Kind, Recorded
from .models import Blob, Event, Reference, Trace
from .payloads import EventId, Sha256
from .storage import default_store
from .tree import Node

COLUMNS = (
    "pk", "seq", "revision", "branch", "parent_id", "actor", "kind", "turn", "name", "data", "fate", "ok", "op_id",
    "act", "result", "before", "after", "started_at", "ended_at", "hidden",
)  # fmt: skip
"""In the order of Recorded's own. Rows as tuples are read twice as fast as models."""


@dataclass(frozen=True)
class Totals:
    """`steps` are the actions that were begun, `cost` is in dollars. `bytes` is None for a path: it shares them."""

    steps: int
    tokens: int
    cost: float
    bytes: int | None = None


@dataclass(frozen=True)
class Stored:
    """`width` and `height` are None for what is no picture."""

    data: bytes
    media_type: str
    width: int | None
    height: int | None


def changes_after(trace_id: str, revision: int, limit: int) -> list[Recorded]:
    """What was added or moved on after a revision, each event as it is now. The next question names the last's."""
    return _light(Event.objects.filter(trace=trace_id, revision__gt=revision).order_by("revision")[:limit])


def events_at(trace_id: str, seqs: Collection[int]) -> list[Recorded]:
    """Those with these numbers, in order."""
    return _light(Event.objects.filter(trace=trace_id, seq__in=seqs).order_by("seq"))


def events_with(trace_id: str, ids: Collection[EventId]) -> list[Recorded]:
    return _light(Event.objects.filter(trace=trace_id, pk__in=ids).order_by("seq"))


def events_by_id(ids: Collection[int]) -> dict[int, Recorded]:
    """Of whatever traces."""
    return {event.id: event for event in _light(Event.objects.filter(pk__in=ids))}


def events_up_to(trace_id: str, branch: str, seq: int, limit: int) -> list[Recorded]:
    """Those of one branch, the last first."""
    return _light(Event.objects.filter(trace=trace_id, branch=branch, seq__lte=seq).order_by("-seq")[:limit])


def path_events(trace_id: str, head: EventId) -> list[Recorded]:
    """From the root to `head`, with what providers need. Raises ValueError when it is no event of the trace."""
    return [event for segment in reversed(_segments(trace_id, head)) for event in _whole(segment)]


def all_events(trace_id: str) -> Iterator[Recorded]:
    """Of a whole trace, a few at a time, in order and with what providers need."""
    return _whole(Event.objects.filter(trace=trace_id).order_by("seq"))


def light_path(trace_id: str, head: EventId) -> list[Recorded]:
    """From the root to `head`, as pages show it: without `raw`. Raises ValueError, as path_events does."""
    return [event for segment in reversed(_segments(trace_id, head)) for event in _light(segment)]


def head_of(trace_id: str, branch: str) -> EventId | None:
    """The branch's last event, after which a worker that takes over writes; None when it has none of its own."""
    last = Event.objects.filter(trace=trace_id, branch=branch).order_by("-seq").values_list("pk", flat=True).first()
    return _event_id(last)


def heads(trace_id: str) -> dict[str, EventId]:
    """The last event of every branch, in the order in which the branches began."""
    events = Event.objects.filter(trace=trace_id).order_by()
    ends = sorted(events.values_list("branch").annotate(first=Min("seq"), last=Max("seq")), key=lambda end: end[1])
    ids = dict(events.filter(seq__in=[last for _, _, last in ends]).values_list("seq", "pk"))
    return {branch: EventId(ids[last]) for branch, _, last in ends}


def nodes(trace_id: str) -> list[Node]:
    rows = Event.objects.filter(trace=trace_id).order_by("seq").values_list("pk", "parent_id", "branch", "seq")
    return [Node(EventId(pk), _event_id(parent), branch, seq) for pk, parent, branch, seq in rows.iterator(10_000)]


def totals(trace_id: str) -> Totals:
    """Raises Trace.DoesNotExist."""
    return Totals(*Trace.objects.values_list("steps", "tokens", "cost", "bytes").get(pk=trace_id))


def path_totals(trace_id: str, head: EventId) -> Totals:
    """What the path to `head` cost, its share of other branches included. Raises ValueError, as path_events does."""
    begun = Count("pk", filter=Q(kind=Kind.ACTION, started_at__isnull=False))
    sums = [
        segment.order_by().aggregate(steps=begun, tokens=Sum("tokens"), cost=Sum("cost"))
        for segment in _segments(trace_id, head)
    ]
    return Totals(*(sum(part[name] for part in sums) for name in ("steps", "tokens", "cost")))


def names(trace_id: str, sha256: str) -> bool:
    """Whether the blob belongs to the trace: who may see the one may see the other."""
    return Reference.objects.filter(trace=trace_id, blob=sha256).exists()


def stored(sha256: Sha256, blobs: BlobStore | None = None) -> Stored:
    """Raises Damaged when it is not there, or is not what it was."""
    blob = Blob.objects.filter(pk=sha256).first()
    if blob is None:
        raise Damaged(f"Nothing is stored under {sha256}.")
    data = (blobs or default_store()).read(sha256, blob.media_type)
    return Stored(data, blob.media_type, blob.width, blob.height)


def _segments(trace_id: str, head: EventId) -> list[QuerySet[Event]]:
    """The path to `head` as stretches of branches, the last first. A branch is a line, so each is a range of seqs."""
    events = Event.objects.filter(trace=trace_id)
    last = events.filter(pk=head).only("branch", "seq").first()
    if last is None:
        raise ValueError(f"Event {head} does not belong to trace {trace_id}.")
    segments: list[QuerySet[Event]] = []
    while last is not None:
        segments.append(events.filter(branch=last.branch, seq__lte=last.seq).order_by("seq"))
        last = segments[-1].select_related("parent").only("parent__branch", "parent__seq")[0].parent
    return segments


def _event_id(pk: int | None) -> EventId | None:
    return None if pk is None else EventId(pk)


def _light(events: QuerySet[Event]) -> list[Recorded]:
    return [_recorded(*row) for row in events.values_list(*COLUMNS)]


def _whole(events: QuerySet[Event]) -> Iterator[Recorded]:
    return (_recorded(*row) for row in events.values_list(*COLUMNS, "raw").iterator(200))


def _recorded(
    pk: int, seq: int, revision: int, branch: str, parent: int | None, actor: str, kind: str, *others: Any
) -> Recorded:
    turn, name, data, fate, ok, op_id, act, result, before, after, *rest = others
    return Recorded(
        EventId(pk),
        seq,
        revision,
        branch,
        _event_id(parent),
        Actor(actor),
        Kind(kind),
        turn,
        name,
        data,
        Fate(fate),
        ok,
        op_id,
        act,
        result,
        before or None,
        after or None,
        *rest,
    )
