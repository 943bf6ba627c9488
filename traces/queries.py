"""What pages, forks and workers that take over read from a trace."""

from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet, Sum

from .blobs import BlobStore
from .errors import Damaged
from .events import Actor, Fate, Kind, Recorded
from .models import Blob, Event, Reference, Trace
from .payloads import EventId, Json, Sha256
from .storage import default_store
from .tree import Node


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


def events_after(trace_id: str, seq: int, limit: int) -> list[Recorded]:
    """The events that follow a number, in order."""
    return _light(Event.objects.filter(trace=trace_id, seq__gt=seq).order_by("seq")[:limit])


def changes_after(trace_id: str, revision: int, limit: int) -> list[Recorded]:
    """What was added or moved on after a revision, each event as it is now. The next question names the last's."""
    return _light(Event.objects.filter(trace=trace_id, revision__gt=revision).order_by("revision")[:limit])


def path_events(trace_id: str, head: EventId) -> list[Recorded]:
    """From the root to `head`, with what providers need. Raises ValueError when it is no event of the trace."""
    return [_recorded(event, event.raw) for segment in reversed(_segments(trace_id, head)) for event in segment]


def head_of(trace_id: str, branch: str) -> EventId | None:
    """The branch's last event, after which a worker that takes over writes; None when it has none of its own."""
    last = Event.objects.filter(trace=trace_id, branch=branch).order_by("-seq").values_list("pk", flat=True).first()
    return _event_id(last)


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
    return [_recorded(event) for event in events.defer("raw")]


def _recorded(event: Event, raw: Json = None) -> Recorded:
    return Recorded(
        id=EventId(event.pk),
        seq=event.seq,
        revision=event.revision,
        branch=event.branch,
        parent=_event_id(event.parent_id),
        actor=Actor(event.actor),
        kind=Kind(event.kind),
        turn=event.turn,
        name=event.name,
        data=event.data,
        fate=Fate(event.fate),
        ok=event.ok,
        op_id=event.op_id,
        act=event.act,
        result=event.result,
        before=Sha256(event.before) if event.before else None,
        after=Sha256(event.after) if event.after else None,
        started_at=event.started_at,
        ended_at=event.ended_at,
        hidden=event.hidden,
        raw=raw,
    )
