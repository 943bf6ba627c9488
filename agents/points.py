"""The moments of a trace that a branch can begin at: a machine was saved there, and every call was answered."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sandboxes.models import Snapshot
from traces.events import Fate, Kind, Recorded
from traces.payloads import EventId
from traces.queries import light_path

from .models import Run

CLOSED = (Fate.DONE, Fate.UNCERTAIN, Fate.REFUSED)


@dataclass(frozen=True)
class Point:
    """`after` is the last event of the conversation then; `verified` is the share of checks that had passed.

    `outside` counts what was done after it, on the path that was asked for, and is not undone by going back: an action
    is told of before it is done, and `revision` says when.
    """

    after: EventId
    seq: int
    branch: str
    snapshot: str
    label: str
    verified: float
    revision: int = 0
    outside: int = 0


def nearest(run: Run, event: EventId) -> Point | None:
    """The last one on the path to an event. Raises ValueError when it is no event of the trace."""
    return max(on_path(run, event), key=lambda point: point.seq, default=None)


def on_path(run: Run, event: EventId) -> list[Point]:
    """Those whose snapshots are still there."""
    path = light_path(run.trace_id, event)
    sent = [event.revision for event in path if (event.act or {}).get("irreversible")]
    found = [replace(point, outside=sum(done > point.revision for done in sent)) for point in _points(path)]
    kept = set(Snapshot.objects.filter(pk__in=[point.snapshot for point in found]).values_list("pk", flat=True))
    return [point for point in found if point.snapshot in kept]


def _points(path: list[Recorded]) -> Iterator[Point]:
    reply: Recorded | None = None
    calls: list[Recorded] = []
    verified = 0.0
    for event in path:
        if event.kind == Kind.MESSAGE and event.name == "reply":
            reply, calls = event, []
        elif event.kind == Kind.ACTION:
            calls.append(event)
        elif event.kind == Kind.VERIFY:
            verified = _share(event)
        elif event.kind == Kind.SNAPSHOT:
            after = _boundary(event, reply, calls)
            if after is not None:
                data = event.data
                saved, label = data["snapshot"], data["label"]
                yield Point(after, event.seq, event.branch, saved, label, verified, event.revision)


def _boundary(saved: Recorded, reply: Recorded | None, calls: list[Recorded]) -> EventId | None:
    """A call that was closed after the machine was saved had not been answered then."""
    done = [call for call in calls if call.fate in CLOSED and call.revision < saved.revision]
    if len(done) == len(calls):
        return saved.id
    return reply.parent if reply and not done else None


def _share(verify: Recorded) -> float:
    outcomes = [finding["outcome"] for finding in verify.data["findings"]]
    return outcomes.count("passed") / len(outcomes) if outcomes else 0.0
