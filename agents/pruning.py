"""The end of one branch: its steps, its machine and its snapshots, unless somebody needs them."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from django.db import transaction
from django.utils import timezone

from sandboxes import forking
from sandboxes import lifecycle as machines
from sandboxes.errors import SandboxError
from sandboxes.models import ENDED as MACHINE_ENDED
from sandboxes.models import Machine, Snapshot
from sandboxes.models import State as MachineState
from traces import audit
from traces import pruning as traces

from . import lifecycle
from .errors import AgentError
from .models import ENDED, Branch, Run, Task
from .removal import collect_soon

log = logging.getLogger(__name__)

UNTROUBLED = (*MACHINE_ENDED, MachineState.READY, MachineState.DESTROYING)
"""Machines in these states do not look at the snapshot they were made from any more."""


class Needed(AgentError):
    """The branch stays; the message says who needs it."""


@dataclass(frozen=True)
class Space:
    """What the end of a branch gives back. `stored` are bytes of pictures and files that nobody else names."""

    snapshots: int
    saved: int
    stored: int

    @property
    def total(self) -> int:
        return self.saved + self.stored


def space_of(branch: Branch) -> Space:
    sizes = [row.size for row in _snapshots(branch)]
    return Space(len(sizes), sum(sizes), traces.freed_by(branch.run.trace_id, branch.name, _attached(branch)))


def why_not(branch: Branch) -> str:
    """One sentence; empty when it may go."""
    return _of_the_run(branch) or _of_others(branch)


def delete_branch(branch: Branch) -> Space:
    """What this gives back. Raises Needed."""
    with transaction.atomic():
        run = Run.objects.select_for_update().select_related("task", "trace").get(pk=branch.run_id)
        branch = run.branches.select_related("machine").get(pk=branch.pk)
        if reason := why_not(branch):
            raise Needed(reason)
        space, machine, rows = space_of(branch), _machine(branch), _snapshots(branch)
        traces.drop(run.trace_id, branch.name, _attached(branch))
        branch.delete()
        lifecycle.mirror(run)
        audit.tell("branch_deleted", trace=run.trace_id, branch=branch.name, bytes=space.total)
        transaction.on_commit(partial(_give_back, machine, rows))
        transaction.on_commit(collect_soon)
    return space


def _of_the_run(branch: Branch) -> str:
    run, name = branch.run, branch.name
    if branch.parent_id is None:
        return f"The run began with “{name}”: delete the whole trace instead."
    if not branch.ended:
        return f"“{name}” is under way: stop it first."
    if run.chosen_id == branch.pk:
        return f"“{name}” is the one that counts: pick another first."
    if run.choosing_until > timezone.now():
        return "The branches are being judged just now: wait for the choice."
    begun = {*branch.children.values_list("name", flat=True), *traces.beginning_on(run.trace_id, name)}
    return f"{_listed(begun)} began on “{name}”: delete what began there first." if begun else ""


def _of_others(branch: Branch) -> str:
    rows = _snapshots(branch)
    machine = Machine.objects.filter(made_from__in=rows).exclude(pk=branch.machine_id).exclude(state__in=UNTROUBLED)
    if first := machine.first():
        return f"The machine “{first.name}” needs one of its snapshots: destroy or resume it first."
    waiting = Branch.objects.filter(snapshot__in=rows, machine=None).exclude(state__in=ENDED).first()
    if waiting:
        return f"“{waiting.name}” of another run waits to begin from one of its snapshots."
    task = Task.objects.filter(snapshot__in=[row.pk for row in rows]).first()
    return f"The task “{str(task)[:60]}” begins from one of its snapshots: delete that first." if task else ""


def _listed(names: set[str]) -> str:
    first, *rest = [f"“{name}”" for name in sorted(names)[:4]]
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""
    return f"{', '.join((first, *rest))}{more}"


def _machine(branch: Branch) -> Machine | None:
    """Unless another branch has it as well."""
    shared = Branch.objects.filter(machine=branch.machine_id).exclude(pk=branch.pk)
    return None if branch.machine is None or shared.exists() else branch.machine


def _snapshots(branch: Branch) -> list[Snapshot]:
    machine = _machine(branch)
    return list(machine.snapshots.all()) if machine else []


def _attached(branch: Branch) -> list[str]:
    return list(branch.run.task.attachments.values_list("sha256", flat=True))


def _give_back(machine: Machine | None, rows: Sequence[Snapshot]) -> None:
    """A snapshot that somebody has begun to use in this very moment stays, and its machine's page shows it."""
    if machine is not None:
        machines.request_destroy(machine)
    for row in rows:
        try:
            forking.request_delete(row)
        except SandboxError as error:
            log.warning("snapshot %s of a deleted branch stays: %s", row.pk, error)
