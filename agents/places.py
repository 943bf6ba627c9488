"""Places for machines: branches that have ended leave theirs to those that wait for one."""

import logging
import time
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from functools import partial

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from sandboxes import forking, slots
from sandboxes import lifecycle as machines
from sandboxes.errors import SandboxError
from sandboxes.models import ENDED as MACHINE_ENDED
from sandboxes.models import LEAVING, OFF_HOST, Lease, Machine, Snapshot
from sandboxes.models import State as MachineState
from sandboxes.slots import SlotsUsed
from traces.queries import head_of

from . import lifecycle
from .endings import HANDED_ON
from .models import ENDED, Branch, Run, State, Task
from .wanted import want_snapshot

log = logging.getLogger(__name__)

KEPT = timedelta(hours=24)
WAITING = "Waiting for a place: "
PAUSE = 0.3
AT_ITS_END = "at its end"
PERSON = "user:"
GOING = (*MACHINE_ENDED, MachineState.DESTROYING)
ASKED_AGAIN = 60.0

asked: dict[str, float] = {}
"""When machines were last asked to leave, by this process."""


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
        pass_on()
        time.sleep(PAUSE)


def pass_on() -> None:
    """What is free, and what others can do without, goes to those that wait."""
    make_room()
    due = waiting().filter(lease_until__lte=timezone.now())
    for branch_id in due.values_list("pk", flat=True)[: max(0, _free())]:
        lifecycle.enqueue(branch_id)


def give_back(run: Run, branches: Iterable[Branch]) -> None:
    """While others go on: a branch that handed the task on to them was saved then, and does nothing any more."""
    for branch in branches:
        if branch.ended and _handed_on(branch) and not run.task.keep_machine:
            _leave(branch)


def make_room() -> None:
    """Machines of ended branches give way to those that wait, whether for the host or for their owner's own limit.

    First those that failed; none that a person drives.
    """
    queued = Counter(waiting().values_list("run__task__owner", flat=True))
    if not queued:
        return
    leaving = Counter(Machine.objects.filter(state__in=LEAVING).values_list("owner", flat=True))
    stay = Machine.objects.exclude(state__in=(*OFF_HOST, *LEAVING)).count()
    wanted = queued.total() - max(0, settings.MACHINE_SLOTS - stay)
    for branch in sorted(_idle(), key=lambda one: bool((one.verdict or {}).get("passed"))):
        owner = branch.run.task.owner_id
        if (wanted > 0 or queued[owner] > leaving[owner]) and _may_be_asked(str(branch.machine_id)):
            _leave(branch)
            wanted, leaving[owner] = wanted - 1, leaving[owner] + 1


def _may_be_asked(machine_id: str) -> bool:
    """Once in a while: one that could not be saved, as on a full disk, would only be asked in vain again and again."""
    now = time.monotonic()
    for other, at in list(asked.items()):
        if now - at > ASKED_AGAIN:
            asked.pop(other, None)
    return asked.setdefault(machine_id, now) == now


def settle(run: Run) -> None:
    """Every branch has ended: the machine of the one that counts goes on, those of the others are kept for a while.

    It is saved at its end, so that branches can begin there, and gives way to whoever waits for its place.
    """
    if run.task.keep_machine:
        return
    for branch in run.branches.select_related("machine", "run__task"):
        machine = branch.machine
        if machine is None or machine.state in MACHINE_ENDED:
            continue
        if run.chosen_id is None:
            machines.request_destroy(machine)
        elif branch.pk != run.chosen_id or waiting().exists():
            _leave(branch)
        elif machine.state == MachineState.READY and not machine.snapshots.filter(label=AT_ITS_END).exists():
            want_snapshot(branch, AT_ITS_END)


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
    chosen = Run.objects.exclude(chosen=None).values("chosen")
    over = Branch.objects.filter(run__state__in=ENDED, run__ended_at__lt=timezone.now() - KEPT)
    old = over.exclude(pk__in=chosen).exclude(run__task__keep_machine=True)
    for branch in old.filter(machine__state=MachineState.STOPPED).select_related("machine"):
        if branch.machine:
            machines.request_destroy(branch.machine)
    for machine in Machine.objects.filter(branches__in=old, state__in=GOING).distinct():
        _delete_saved(machine.pk, label=forking.WHEN_STOPPED)


def _free() -> int:
    return settings.MACHINE_SLOTS - slots.taken()


def _idle() -> QuerySet[Branch]:
    """Ended, with a machine that is on and that nobody works in."""
    over = Branch.objects.filter(state__in=ENDED, machine__state=MachineState.READY, run__task__keep_machine=False)
    used = Branch.objects.exclude(state__in=ENDED).exclude(machine=None).values("machine")
    driven = Lease.objects.filter(holder__startswith=PERSON).values("machine")
    return over.exclude(machine__in=used).exclude(machine__in=driven).select_related("machine", "run__task")


def _leave(branch: Branch) -> None:
    """Saved whole, unless that was done when it handed on, or nothing was done in it."""
    machine = branch.machine
    if machine is None or machine.state in (*OFF_HOST, *LEAVING):
        return
    if _handed_on(branch) or head_of(branch.run.trace_id, branch.name) is None:
        machines.request_destroy(machine)
    elif machine.state == MachineState.READY:
        forking.request_stop(machine)


def _handed_on(branch: Branch) -> bool:
    """By its own word, and there are branches that began from its machine."""
    said = branch.detail.startswith(HANDED_ON.partition("{")[0])
    return said and Branch.objects.filter(parent=branch, snapshot__machine=branch.machine_id).exists()
