"""Places for machines: branches that have ended leave theirs to those that wait for one."""

import logging
import time
from collections.abc import Iterable
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from sandboxes import forking
from sandboxes import lifecycle as machines
from sandboxes.errors import SandboxError
from sandboxes.lifecycle import SlotsUsed
from sandboxes.models import ENDED as MACHINE_ENDED
from sandboxes.models import OFF_HOST, Machine, Snapshot
from sandboxes.models import State as MachineState

from . import lifecycle
from .endings import HANDED_ON
from .models import ENDED, Branch, Run, State, Task

log = logging.getLogger(__name__)

KEPT = timedelta(hours=24)
WAITING = "Waiting for a place: "
PAUSE = 0.3
GOING = (*MACHINE_ENDED, MachineState.DESTROYING)


def waiting() -> QuerySet[Branch]:
    """Those that found no place for a machine, the one that has waited longest first."""
    queued = Branch.objects.filter(state=State.QUEUED, machine=None, detail__startswith=WAITING)
    return queued.order_by("created_at")


def take_turns(branch: Branch) -> None:
    """Raises SlotsUsed while those that came before it wait for what is free."""
    ahead = waiting().filter(created_at__lt=branch.created_at).count()
    if ahead and ahead >= _free():
        raise SlotsUsed(f"{ahead} came before it.")


def hand_out() -> None:
    """While somebody waits: as many as there is room for are driven, within a moment."""
    while waiting().exists():
        make_room()
        due = waiting().filter(lease_until__lte=timezone.now())
        for branch_id in due.values_list("pk", flat=True)[: max(0, _free())]:
            lifecycle.enqueue(branch_id)
        time.sleep(PAUSE)


def give_back(run: Run, branches: Iterable[Branch]) -> None:
    """While others go on: a branch that handed the task on to them was saved then, and does nothing any more."""
    for branch in branches:
        if branch.ended and _handed_on(branch) and not run.task.keep_machine:
            _leave(branch)


def make_room() -> None:
    """Machines of ended branches, in runs that go on, give way to those that wait: first those that failed."""
    leaving = Machine.objects.filter(state__in=(MachineState.STOPPING, MachineState.DESTROYING)).count()
    wanted = waiting().count() - max(0, _free()) - leaving
    if wanted <= 0:
        return
    over = Branch.objects.filter(state__in=ENDED, machine__state=MachineState.READY, run__task__keep_machine=False)
    used = Branch.objects.exclude(state__in=ENDED).exclude(machine=None).values("machine")
    idle = over.exclude(run__state__in=ENDED).exclude(machine__in=used).select_related("machine")
    for branch in sorted(idle, key=lambda one: bool((one.verdict or {}).get("passed")))[:wanted]:
        _leave(branch)


def settle(run: Run) -> None:
    """Every branch has ended: the machine of the one that counts goes, those of the others are kept for a while."""
    if run.task.keep_machine:
        return
    for branch in run.branches.select_related("machine"):
        machine = branch.machine
        if machine is None or machine.state in MACHINE_ENDED:
            continue
        if branch.pk == run.chosen_id or run.chosen_id is None:
            machines.request_destroy(machine)
        else:
            _leave(branch)


def forget(run: Run) -> None:
    """When the run itself goes: its machines, and all that was saved of them and nobody else begins from."""
    if run.task.keep_machine:
        return
    mine = Machine.objects.filter(branches__run=run).exclude(branches__in=Branch.objects.exclude(run=run)).distinct()
    for machine in mine:
        machines.request_destroy(machine)
        transaction.on_commit(partial(_delete_saved, machine.pk))


def _delete_saved(machine_id: str, **which: str) -> None:
    begins = Task.objects.exclude(snapshot="").values("snapshot")
    for row in Snapshot.objects.filter(machine=machine_id, **which).exclude(pk__in=begins):
        try:
            forking.request_delete(row)
        except SandboxError as error:
            log.info("snapshot %s stays: %s", row.pk, error)


def forget_losers() -> None:
    """What was kept of branches that were not chosen, after a day."""
    old = Branch.objects.filter(run__state__in=ENDED, run__ended_at__lt=timezone.now() - KEPT)
    for branch in old.filter(machine__state=MachineState.STOPPED).select_related("machine"):
        if branch.machine:
            machines.request_destroy(branch.machine)
    for machine in Machine.objects.filter(branches__in=old, state__in=GOING).distinct():
        _delete_saved(machine.pk, label=forking.WHEN_STOPPED)


def _free() -> int:
    return settings.MACHINE_SLOTS - Machine.objects.exclude(state__in=OFF_HOST).count()


def _leave(branch: Branch) -> None:
    """Saved whole, unless that was done when it handed on."""
    machine = branch.machine
    if machine is None or machine.state != MachineState.READY:
        return
    if _handed_on(branch):
        machines.request_destroy(machine)
    else:
        forking.request_stop(machine)


def _handed_on(branch: Branch) -> bool:
    """By its own word, and there are branches that began from its machine."""
    said = branch.detail.startswith(HANDED_ON.partition("{")[0])
    return said and Branch.objects.filter(parent=branch, snapshot__machine=branch.machine_id).exists()
