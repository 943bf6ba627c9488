"""A branch in few words, wherever many are shown: who drives it, what it does, and how far it has come."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, OuterRef, QuerySet, Subquery

from agents.budget import Limits
from agents.models import Branch, Run, State
from agents.notify import page_of
from sandboxes.models import State as MachineState
from traces.events import Recorded
from traces.models import Event
from traces.queries import events_by_id
from traces.steps import steps_of

from ..access import Person, may_change_task
from .task_doing import Doing, doing
from .trace_links import Links


@dataclass(frozen=True)
class Card:
    """`url` is of the page that shows this very branch; `which` names its run where its task has several."""

    run: Run
    branch: Branch
    doing: Doing
    thumb: str
    steps: int
    most: int
    cost: float
    mine: bool
    which: str

    @property
    def share(self) -> float:
        return round(min(1.0, self.steps / self.most), 3)

    @property
    def url(self) -> str:
        return page_of(self.branch)

    @property
    def may_take(self) -> bool:
        """Whether there is a desktop that this person may take over from an agent."""
        ready = self.branch.machine is not None and self.branch.machine.state == MachineState.READY
        return self.mine and ready and not self.branch.ended and self.branch.state != State.HUMAN_CONTROL


def with_last_events(branches: QuerySet[Branch]) -> QuerySet[Branch]:
    """Each with `last`, its newest event, and `picture`, the hash of what it saw last; and which run of how many."""
    told = Event.objects.filter(trace=OuterRef("run__trace"), branch=OuterRef("name")).order_by("-seq")
    siblings = Run.objects.filter(task=OuterRef("run__task"))
    return branches.select_related("machine", "run__task", "run__trace").annotate(
        last=Subquery(told.values("pk")[:1]),
        picture=Subquery(told.exclude(after="").values("after")[:1]),
        run_number=_counted(siblings.filter(created_at__lte=OuterRef("run__created_at"))),
        run_count=_counted(siblings),
    )


def _counted(runs: QuerySet[Run]) -> Subquery:
    return Subquery(runs.order_by().values("task").annotate(count=Count("pk")).values("count"))


def cards(person: Person, branches: Iterable[Branch]) -> list[Card]:
    """Of branches `with_last_events`."""
    newest = {branch: getattr(branch, "last", None) or 0 for branch in branches}
    events = events_by_id([last for branch, last in newest.items() if branch.state == State.RUNNING])
    return [_card(person, branch, events.get(last)) for branch, last in newest.items()]


def _card(person: Person, branch: Branch, last: Recorded | None) -> Card:
    run, steps = branch.run, steps_of([last] if last else [])
    picture: str = getattr(branch, "picture", "") or ""
    return Card(
        run=run,
        branch=branch,
        doing=doing(branch, steps[-1] if steps else None, person),
        thumb=Links(f"/traces/{run.trace_id}/").thumb(picture) if picture else "",
        steps=run.trace.steps,
        most=int(Limits.from_json({**run.task.limits, **branch.limits}).steps),
        cost=run.trace.cost,
        mine=may_change_task(person, run.task),
        which=_which(branch),
    )


def _which(branch: Branch) -> str:
    number, count = getattr(branch, "run_number", 1), getattr(branch, "run_count", 1)
    return f"Run {number} of {count}" if count > 1 else ""
