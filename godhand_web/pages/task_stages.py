"""From a task to its first step: how far it has come, and how long that usually takes.

What is usual is the median of the last runs of the same image; too few of them are no measure, and nothing is claimed.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from statistics import median
from typing import Literal

from django.db.models import Min
from django.utils import timezone

from agents.models import Branch
from agents.models import State as RunState
from sandboxes.models import Event, State
from traces.events import Kind
from traces.models import Event as Step

LAST = 20
FEWEST = 3
FAR_TOO_LONG = 3
TITLES = ("Queued", "Network and disk", "Booting", "First step")

Moments = tuple[datetime | None, ...]
"""Of one run: asked for, got a machine, boots, desktop there, first step. None: not yet."""


@dataclass(frozen=True)
class Stage:
    """`usual` and `took` are seconds. A stage that is `late` takes three times as long as it usually does, or more."""

    title: str
    progress: Literal["done", "now", "next", "stopped"]
    since: datetime | None = None
    took: float | None = None
    usual: float | None = None
    late: bool = False


def stages(branch: Branch) -> list[Stage]:
    """Empty once it has made its first step."""
    found = moments([branch])[branch.pk]
    if found[-1] is not None:
        return []
    usual = usual_stages(branch.run.task.image)
    reached = sum(moment is not None for moment in found) - 1
    return [_stage(number, found, usual[number], reached, ended=branch.ended) for number in range(len(TITLES))]


def usual_stages(image: str) -> list[float | None]:
    """Seconds that each stage takes, in order."""
    spans: list[list[float]] = [[] for _ in TITLES]
    for found in moments(_last_of(image)).values():
        for number, (begin, end) in enumerate(pairwise(found)):
            if begin and end and end >= begin:
                spans[number].append((end - begin).total_seconds())
    return [_middle(span) for span in spans]


def usual_seconds(image: str) -> float | None:
    """From the wish for a machine to its desktop."""
    found = moments(_last_of(image)).values()
    return _middle([(ready - made).total_seconds() for _, made, _, ready, _ in found if made and ready])


def position(branch: Branch) -> int:
    """In the line of those that wait for a worker or a machine, from 1."""
    waiting = Branch.objects.filter(state=RunState.QUEUED, created_at__lt=branch.created_at)
    return waiting.count() + 1


def moments(branches: Sequence[Branch]) -> dict[str, Moments]:
    machines = [branch.machine_id for branch in branches if branch.machine_id]
    reached: dict[str, dict[str, datetime]] = defaultdict(dict)
    events = Event.objects.filter(machine__in=machines, state__in=(State.BOOTING, State.READY)).order_by()
    for machine_id, state, at in events.values_list("machine", "state").annotate(Min("at")):
        reached[machine_id][state] = at
    traces = [branch.run.trace_id for branch in branches]
    acted = Step.objects.filter(trace__in=traces, kind=Kind.ACTION, started_at__isnull=False).order_by()
    first = {
        (trace_id, name): at for trace_id, name, at in acted.values_list("trace", "branch").annotate(Min("started_at"))
    }
    return {
        branch.pk: (
            branch.created_at,
            branch.machine.created_at if branch.machine else None,
            reached[branch.machine_id or ""].get(State.BOOTING),
            reached[branch.machine_id or ""].get(State.READY),
            first.get((branch.run.trace_id, branch.name)),
        )
        for branch in branches
    }


def _last_of(image: str) -> list[Branch]:
    mine = Branch.objects.filter(run__task__image=image, parent=None, machine__isnull=False)
    return list(mine.select_related("machine", "run").order_by("-created_at")[:LAST])


def _stage(number: int, found: Moments, usual: float | None, reached: int, *, ended: bool) -> Stage:
    title, since, end = TITLES[number], found[number], found[number + 1]
    if since and end:
        return Stage(title, "done", since, max(0.0, (end - since).total_seconds()), usual)
    if number > reached:
        return Stage(title, "next", usual=usual)
    if number < reached:
        return Stage(title, "done", since, usual=usual)
    if ended:
        return Stage(title, "stopped", since)
    lasts = (timezone.now() - since).total_seconds() if since else 0
    return Stage(title, "now", since, usual=usual, late=usual is not None and lasts > max(FAR_TOO_LONG * usual, 5))


def _middle(seconds: list[float]) -> float | None:
    return median(seconds) if len(seconds) >= FEWEST else None
