"""From which saved moment a branch begins when a person points at a step."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from sandboxes.models import State
from traces.events import Kind, Recorded
from traces.models import Event
from traces.payloads import EventId
from traces.queries import head_of, light_path

from .models import Run
from .points import CLOSED, Point, on_path


@dataclass(frozen=True)
class Start:
    """`steps` are the actions that lead there; `back` is how many lie between it and the step that was pointed at."""

    point: Point
    steps: int
    back: int


def start_from(run: Run, seq: int) -> Start | None:
    """The nearest that is no later; None when no machine was saved on the way. Raises ValueError: no such event.

    A machine that is saved while the model thinks is told of after the step it belongs to, so the path is looked at to
    its end, and moments are compared by how many actions lead to them.
    """
    event = Event.objects.filter(trace=run.trace_id, seq=seq).first()
    head = head_of(run.trace_id, event.branch) if event else None
    if event is None or head is None:
        raise ValueError(f"The trace has no event {seq}.")
    path = light_path(run.trace_id, head)
    acts = [each.seq for each in path if each.kind == Kind.ACTION and each.started_at]
    seqs = {each.id: each.seq for each in path}
    here = bisect_right(acts, seq)

    def steps(point: Point) -> int:
        return bisect_right(acts, seqs[EventId(point.after)])

    ends = _end(run, path)
    found = [point for point in (*on_path(run, head), *([ends] if ends else ())) if steps(point) <= here]
    best = max(found, key=lambda point: (steps(point), point.seq <= seq, -abs(point.seq - seq)), default=None)
    return Start(best, steps(best), here - steps(best)) if best else None


def _end(run: Run, path: Sequence[Recorded]) -> Point | None:
    """The machine of a branch that has ended or rests may have been saved as it was left, which no step tells of."""
    last = path[-1]
    stopped = run.branches.filter(name=last.branch, machine__state=State.STOPPED)
    row = stopped.select_related("machine__made_from").first()
    machine = row.machine if row else None
    saved = machine.made_from if machine else None
    if machine is None or saved is None or saved.machine_id != machine.pk:
        return None
    if any(event.kind == Kind.ACTION and event.fate not in CLOSED for event in path):
        return None
    return Point(last.id, last.seq, last.branch, saved.pk, saved.label, 0.0)
