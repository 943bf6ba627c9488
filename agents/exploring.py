"""Several branches of one run: the first that passes ends the others, a failed one is tried again, the best is chosen.

Everything here is decided from rows and may be asked for at any time, any number of times, by anybody.
"""

import logging
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from sandboxes import forking
from sandboxes import lifecycle as machines
from sandboxes.models import ENDED as MACHINE_ENDED
from sandboxes.models import State as MachineState
from traces.payloads import EventId
from traces.queries import head_of

from . import branching, choosing, lifecycle
from .branching import Way
from .errors import BadTask
from .models import ENDED, Branch, Run, State
from .plan import Plan
from .points import Point, on_path

log = logging.getLogger(__name__)

KEPT = timedelta(hours=24)
AGAIN = "Another attempt from here failed. {} Do not do the same again: find another way."


def advance(run_id: str) -> None:
    """Whatever is due now."""
    run = Run.objects.select_related("task__owner", "trace").get(pk=run_id)
    branches = list(run.branches.select_related("machine", "snapshot"))
    plan = Plan.from_json(run.task.plan)
    if any(passes(branch) for branch in branches):
        if plan.stop == "first" and len(branches) > 1:
            _end_others(branches)
    elif _recover(run, branches, plan):
        return
    if all(branch.ended for branch in run.branches.all()):
        if len(branches) > 1 and any(branch.state != State.CANCELLED for branch in run.branches.all()):
            choosing.choose(run)
        _settle(run)


def reconcile() -> None:
    """Runs of which a branch has ended, and nobody has said what follows."""
    several = Run.objects.exclude(state__in=ENDED).filter(branches__state__in=ENDED)
    for run_id in several.distinct().values_list("pk", flat=True):
        lifecycle.enqueue_choice(run_id)


def passes(branch: Branch) -> bool:
    return branch.state == State.SUCCEEDED and bool(branch.verdict and branch.verdict["passed"])


def _end_others(branches: list[Branch]) -> None:
    for branch in branches:
        if not branch.ended:
            lifecycle.request_cancel(branch)


def _recover(run: Run, branches: list[Branch], plan: Plan) -> bool:
    """Whether another attempt has begun."""
    left = plan.recover - sum(branch.recovers_id is not None for branch in branches)
    tried = {branch.recovers_id for branch in branches}
    begun = False
    for branch in branches:
        if left <= 0 or branch.state != State.FAILED or branch.pk in tried:
            continue
        if point := most_promising(run, branch):
            way = Way(AGAIN.format(why(branch)), recovers=branch)
            try:
                branching.fork_at(run, point, [way], key=f"recover {branch.pk}")
            except BadTask as error:
                log.info("run %s: %s", run.pk, error)
                break
            left, begun = left - 1, True
    return begun


def most_promising(run: Run, branch: Branch) -> Point | None:
    """On the branch's path: where most checks had passed; of those the latest that was not tried from already."""
    head = head_of(run.trace_id, branch.name) or branch.forked_at
    if head is None:
        return None
    tried = list(run.branches.filter(recovers__isnull=False).values_list("forked_at", flat=True))
    found = on_path(run, EventId(head))
    return max(found, key=lambda point: (point.verified, -tried.count(point.after), point.seq), default=None)


def why(branch: Branch) -> str:
    findings: dict[str, Any] = (branch.verdict or {}).get("findings", {})
    failed = [f"{name}: {one.get('actual', '')}" for name, one in findings.items() if one.get("outcome") == "failed"]
    return f"These checks failed: {'; '.join(failed)[:1000]}." if failed else branch.detail[:1000]


def _settle(run: Run) -> None:
    """Every branch has ended: the machine of the one that counts is given back, the others are kept for a while."""
    run.refresh_from_db()
    lifecycle.mirror(run)
    for branch in run.branches.select_related("machine"):
        machine = branch.machine
        if machine is None or machine.state in MACHINE_ENDED or run.task.keep_machine:
            continue
        if branch.pk == run.chosen_id or run.chosen_id is None:
            machines.request_destroy(machine)
        elif machine.state == MachineState.READY:
            forking.request_stop(machine)


def forget_losers() -> None:
    """What was kept of branches that were not chosen, after a day."""
    old = Q(machine__state=MachineState.STOPPED, run__state__in=ENDED, run__ended_at__lt=timezone.now() - KEPT)
    for branch in Branch.objects.filter(old).select_related("machine"):
        if branch.machine:
            machines.request_destroy(branch.machine)
