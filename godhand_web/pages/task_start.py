"""What a new task starts from: images, snapshots with the steps they were taken at, and any step of any trace."""

import re
from dataclasses import dataclass

from agents.models import Branch, Run
from agents.starting import Start, start_from
from sandboxes.models import Snapshot
from traces.events import Kind
from traces.models import Event
from traces.outline import number_of

from ..access import visible_snapshots, visible_traces
from ..models import User

SHOWN = 30
LINK = re.compile(r"(?:^|/)traces/(?P<trace>\w+)/(?:steps/(?P<path>\d+)/?)?(?:.*[?&]step=(?P<query>\d+))?")
PAIR = re.compile(r"(?P<trace>\w{6,40})\s+(?:step\s+)?(?P<step>\d+)")


class NoStart(ValueError):
    """The text may be shown."""


@dataclass(frozen=True)
class Origin:
    """A snapshot, and the step of a trace that it was taken at where there is one, as the trace's page counts it."""

    snapshot: Snapshot
    title: str = ""
    number: int = 0


def origins(person: User, chosen: str) -> list[Origin]:
    """The newest, and the chosen one wherever it is."""
    visible = visible_snapshots(person).order_by("-made_at")
    rows = list(visible[:SHOWN])
    if chosen not in {row.pk for row in rows}:
        rows = [*visible.filter(pk=chosen), *rows]
    steps = _steps(person, rows)
    return [Origin(row, *steps.get(row.pk, ("", 0))) for row in rows]


def step_of(person: User, link: str) -> tuple[Snapshot, Start]:
    """The saved moment at or before a step. Raises NoStart."""
    trace_id, seq = _read(link)
    trace = visible_traces(person).filter(pk=trace_id).first()
    run = Run.objects.filter(trace=trace).first() if trace else None
    if run is None:
        raise NoStart("There is no such trace of a run here.")
    try:
        start = start_from(run, seq)
    except ValueError:
        raise NoStart("That trace has no such step.") from None
    if start is None:
        raise NoStart("No machine was saved on the way to that step, or its snapshots are gone; choose another step.")
    snapshot = visible_snapshots(person).filter(pk=start.point.snapshot).first()
    if snapshot is None:
        raise NoStart("The snapshot of that step belongs to somebody else.")
    return snapshot, start


def _read(link: str) -> tuple[str, int]:
    text = link.strip()
    if pair := PAIR.fullmatch(text):
        return pair["trace"], int(pair["step"][:9])
    found = LINK.search(text)
    number = found and (found["path"] or found["query"])
    if not found or not number:
        raise NoStart("Paste the link of a step: its page has “Copy link” (c).")
    return found["trace"], int(number[:9])


def _steps(person: User, rows: list[Snapshot]) -> dict[str, tuple[str, int]]:
    """By way of the machines, because events can be found by their trace only."""
    machines = {row.machine_id for row in rows if row.machine_id}
    runs = Branch.objects.filter(machine__in=machines).values_list("run__trace", flat=True)
    traces = list(visible_traces(person).filter(pk__in=set(runs)).values_list("pk", flat=True))
    taken = Event.objects.filter(trace__in=traces, kind=Kind.SNAPSHOT, name__in=[row.pk for row in rows])
    places = taken.values_list("name", "trace__title", "trace", "branch", "seq")
    return {name: (title, number_of(trace, branch, seq)) for name, title, trace, branch, seq in places}
