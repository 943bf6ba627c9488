"""What needs a person first, then what runs, then what ran."""

from dataclasses import dataclass

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from agents.budget import Limits
from agents.examples import EXAMPLES
from agents.models import ENDED, RESTING, Branch, Run, State
from sandboxes.models import ENDED as MACHINE_ENDED
from sandboxes.models import State as MachineState
from traces.queries import events_at
from traces.steps import Step, steps_of

from ..access import Person, may_change_task, visible_machines, visible_runs, visible_tasks, visible_traces
from .cards import image_cards, with_pictures
from .home_needs import needs
from .task_doing import Doing, doing
from .task_models import models_for
from .task_view import with_last_pictures
from .trace_answers import html
from .trace_links import Links

WAITING_SHOWN = 12
RUNNING_SHOWN = 24
MACHINES_SHOWN = 12
TRACES_SHOWN = 8


@dataclass(frozen=True)
class Card:
    """A run on the dashboard."""

    run: Run
    branch: Branch
    doing: Doing
    thumb: str
    steps: int
    most: int
    cost: float
    mine: bool

    @property
    def share(self) -> float:
        return round(min(1.0, self.steps / self.most), 3)


@require_safe
def dashboard(request: HttpRequest) -> HttpResponse:
    runs = visible_runs(request.user)
    waiting = runs.filter(state__in=RESTING).order_by("state", "-created_at")
    running = runs.exclude(state__in=(*RESTING, *ENDED)).order_by("-created_at")
    machines = with_pictures(visible_machines(request.user)).filter(branches__isnull=True)
    context = {
        "waiting": cards(request.user, waiting[:WAITING_SHOWN]),
        "running": cards(request.user, running[:RUNNING_SHOWN]),
        "running_count": running.count(),
        "queue": queue(),
        "machines": machines.exclude(state__in=(*MACHINE_ENDED, MachineState.STOPPED))[:MACHINES_SHOWN],
        "traces": visible_traces(request.user).exclude(ended_at=None).order_by("-ended_at")[:TRACES_SHOWN],
        "images": image_cards(),
    }
    if not visible_tasks(request.user).exists():
        first = {"examples": EXAMPLES.values(), "has_key": bool(models_for(request.user)[0].key_env)}
        context |= {"first": True, "needs": needs(), **first}
    return html(request, "dashboard.html", context)


def cards(person: Person, runs: QuerySet[Run]) -> list[Card]:
    found = list(with_last_pictures(runs))
    branches = Branch.objects.filter(run__in=found, parent=None).select_related("machine", "run")
    by_run = {branch.run_id: branch for branch in branches}
    return [_card(person, run, by_run[run.pk]) for run in found if run.pk in by_run]


def _card(person: Person, run: Run, branch: Branch) -> Card:
    picture: str = getattr(run, "picture", "") or ""
    return Card(
        run=run,
        branch=branch,
        doing=doing(branch, _last_step(run) if branch.state == State.RUNNING else None),
        thumb=Links(f"/traces/{run.trace_id}/").thumb(picture) if picture else "",
        steps=run.trace.steps,
        most=int(Limits.from_json(run.task.limits).steps),
        cost=run.trace.cost,
        mine=may_change_task(person, run.task),
    )


def _last_step(run: Run) -> Step | None:
    steps = steps_of(events_at(run.trace_id, [run.trace.next_seq - 1]))
    return steps[-1] if steps else None


@dataclass(frozen=True)
class Queue:
    """Runs of everybody that wait for a worker or a machine; the oldest for so many seconds."""

    length: int
    oldest: float | None


def queue() -> Queue:
    waiting = Run.objects.filter(state=State.QUEUED).order_by("created_at")
    first = waiting.values_list("created_at", flat=True).first()
    return Queue(waiting.count(), (timezone.now() - first).total_seconds() if first else None)
