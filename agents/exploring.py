"""Several branches of one run: the first that passes ends the others, a failed one is tried again, the best is chosen.

Everything here is decided from rows and may be asked for at any time, any number of times, by anybody.
"""

import logging

from . import choosing, lifecycle, places
from .branching import BY_A_PERSON
from .models import ENDED, Branch, Run, State
from .plan import Plan
from .trying import try_again

log = logging.getLogger(__name__)


def advance(run_id: str) -> None:
    """Whatever is due now."""
    run = Run.objects.select_related("task__owner", "trace").get(pk=run_id)
    branches = list(run.branches.select_related("machine", "snapshot"))
    plan = Plan.of(run)
    if any(passes(branch) for branch in branches):
        if plan.stop == "first" and len(branches) > 1:
            _end_others(branches)
    elif try_again(run, branches, plan):
        return
    if all(branch.ended for branch in run.branches.all()):
        is_choice = len(branches) > 1 and any(branch.state != State.CANCELLED for branch in run.branches.all())
        if not is_choice or choosing.choose(run):
            _settle(run)
    else:
        places.give_back(run, branches)
        places.pass_on()


def reconcile() -> None:
    for run_id in due():
        lifecycle.enqueue_choice(run_id)


def go_round() -> None:
    """Without messages: those wait behind branches, where there are more of them than a worker has threads."""
    for run_id in due():
        try:
            advance(run_id)
        except Exception:
            log.exception("run %s", run_id)


def due() -> list[str]:
    """Runs of which a branch has ended, and nobody has said what follows."""
    several = Run.objects.exclude(state__in=ENDED).filter(branches__state__in=ENDED)
    return list(several.distinct().values_list("pk", flat=True))


def passes(branch: Branch) -> bool:
    return branch.state == State.SUCCEEDED and bool(branch.verdict and branch.verdict["passed"])


def _end_others(branches: list[Branch]) -> None:
    """What a person has begun comes to its own end."""
    for branch in branches:
        if not branch.ended and not branch.key.startswith(BY_A_PERSON):
            lifecycle.request_cancel(branch)


def _settle(run: Run) -> None:
    """It stands which branch counts. Machines are left alone where another has begun since."""
    run.refresh_from_db()
    lifecycle.mirror(run)
    if all(branch.ended for branch in run.branches.all()):
        places.settle(run)
