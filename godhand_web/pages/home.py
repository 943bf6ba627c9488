"""What needs a person first, then what runs, then what ran."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from agents.examples import EXAMPLES
from agents.models import ENDED, RESTING, Branch, Run, State
from sandboxes import lease
from sandboxes.models import ENDED as MACHINE_ENDED
from sandboxes.models import Lease, Machine
from sandboxes.models import State as MachineState

from ..access import Person, may_create, visible_machines, visible_runs, visible_tasks, visible_traces
from .cards import image_cards, with_pictures
from .home_needs import needs
from .run_cards import cards, with_last_events
from .task_models import models_for
from .tiles import Tile, pictures_of
from .trace_answers import html

WAITING_SHOWN = 12
WAITING_READ = 100
RUNNING_SHOWN = 24
MACHINES_SHOWN = 12
TRACES_SHOWN = 8


@require_safe
def dashboard(request: HttpRequest) -> HttpResponse:
    runs = visible_runs(request.user)
    running = runs.exclude(state__in=(*RESTING, *ENDED)).order_by("-created_at")
    machines = with_pictures(visible_machines(request.user)).filter(branches__isnull=True)
    waiting, ending = cards(request.user, waiting_for(request.user)), expiring(request.user)
    context = {
        "waiting": waiting,
        "expiring": ending,
        "needed": len(waiting) + len(ending),
        "running": cards(request.user, liveliest(running[:RUNNING_SHOWN])),
        "running_count": running.count(),
        "queue": queue(),
        "machines": pictured(machines.exclude(state__in=(*MACHINE_ENDED, MachineState.STOPPED))[:MACHINES_SHOWN]),
        "traces": visible_traces(request.user).exclude(ended_at=None).order_by("-ended_at")[:TRACES_SHOWN],
        "images": image_cards(),
    }
    if may_create(request.user) and not visible_tasks(request.user).exists():
        models = models_for(request.user)
        first = {"examples": EXAMPLES.values(), "has_key": bool(models[0].key_env)}
        context |= {"first": True, "needs": needs(models), **first}
    return html(request, "dashboard.html", context)


def waiting_for(person: Person) -> list[Branch]:
    """All that ask for a person; of runs that rest besides one branch, for resuming goes to all of them."""
    resting = Branch.objects.filter(run__in=visible_runs(person), state__in=RESTING)
    ordered = with_last_events(resting).order_by("state", "-run__created_at", "created_at")
    found: list[Branch] = []
    for branch in ordered[:WAITING_READ]:
        if branch.state == State.NEEDS_HELP or branch.run_id not in {other.run_id for other in found}:
            found.append(branch)
    return found[:WAITING_SHOWN]


def expiring(person: Person) -> list[Lease]:
    """What this person drives, and soon does not any more."""
    now = timezone.now()
    mine = Lease.objects.filter(holder=lease.holder_of(person), expires__gt=now)
    return list(mine.filter(expires__lt=now + timedelta(seconds=lease.WARNING_SECONDS)).select_related("machine"))


def liveliest(runs: QuerySet[Run]) -> list[Branch]:
    """Of each run the branch whose state it has, else its first."""
    found = list(runs)
    branches = with_last_events(Branch.objects.filter(run__in=found)).order_by("created_at")
    chosen: dict[str, Branch] = {}
    for branch in sorted(branches, key=lambda branch: branch.state != branch.run.state):
        chosen.setdefault(branch.run_id, branch)
    return [chosen[run.pk] for run in found if run.pk in chosen]


def pictured(machines: Iterable[Machine]) -> list[Tile]:
    found = list(machines)
    pictures = pictures_of(found)
    return [Tile(machine, pictures.get(machine.pk, "")) for machine in found]


@dataclass(frozen=True)
class Queue:
    """Runs of everybody that wait for a worker or a machine; the oldest for so many seconds."""

    length: int
    oldest: float | None


def queue() -> Queue:
    waiting = Run.objects.filter(state=State.QUEUED).order_by("created_at")
    first = waiting.values_list("created_at", flat=True).first()
    return Queue(waiting.count(), (timezone.now() - first).total_seconds() if first else None)
