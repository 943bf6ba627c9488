"""A branch's machine: made, forked, woken, and made anew when it died before anything was done in it."""

import logging

from sandboxes import forking
from sandboxes import lifecycle as machines
from sandboxes.errors import Gone
from sandboxes.models import Machine
from sandboxes.models import State as MachineState
from sandboxes.network import Policy
from traces.errors import Fenced
from traces.queries import head_of

from . import lifecycle, places
from .endings import Broken
from .keeping import wait_until_ready
from .leases import LOST, Lease
from .models import DRIVEN, Branch, State
from .watching import RowWatch

log = logging.getLogger(__name__)

TRIES = 3


def machine_of(branch: Branch, lease: Lease, watch: RowWatch) -> Machine:
    """Ready; one that was about to stop is resumed once it has.

    Raises Gone when what was done in it is lost with it; Broken, SlotsUsed, and as a Watch does.
    """
    for left in reversed(range(TRIES)):
        machine = _asked_for(branch, lease, watch)
        try:
            return wait_until_ready(machine.pk, watch.wishes)
        except Gone as error:
            machine.refresh_from_db()
            if left and machine.state == MachineState.STOPPED:
                continue
            begun = head_of(branch.run.trace_id, branch.name) is not None
            if begun or not left or machine.state not in (MachineState.FAILED, MachineState.LOST):
                raise
            log.warning("branch %s gets another machine: %s", branch.pk, error)
            branch.machine = None
    raise AssertionError


def _asked_for(branch: Branch, lease: Lease, watch: RowWatch) -> Machine:
    if branch.machine is None:
        watch.wishes()
        places.take_turns(branch)
        branch.machine = _kept(_new(branch), branch, lease, watch)
        lifecycle.move(branch.pk, State.PROVISIONING)
    elif branch.machine.state == MachineState.STOPPED:
        forking.request_resume(branch.machine)
    return branch.machine


def _kept(machine: Machine, branch: Branch, lease: Lease, watch: RowWatch) -> Machine:
    """Of a branch that was cancelled or lost while its machine was asked for, nobody else would give it back."""
    if not Branch.objects.filter(pk=branch.pk, fence=lease.fence, state__in=DRIVEN).update(machine=machine):
        machines.request_destroy(machine)
        watch.wishes()
        raise Fenced(LOST)
    return machine


def _new(branch: Branch) -> Machine:
    task = branch.run.task
    name, network = f"{branch.run_id}-{branch.name}", Policy(**task.network)
    if branch.snapshot:
        return forking.request_fork(branch.snapshot, task.owner, name=name, network=network)
    if branch.forked_at:
        raise Broken("The snapshot that this branch begins from was deleted.")
    return machines.request_machine(task.owner, image=task.image, name=name, kind=task.backend, network=network)
