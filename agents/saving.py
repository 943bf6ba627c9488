"""Takes the snapshots that are wanted of branches that nobody drives, and tells of them in the trace."""

import logging

from sandboxes.errors import SandboxError
from sandboxes.models import State as MachineState
from traces.errors import TraceError

from . import hints
from .keeping import BranchKeeper
from .leases import Lease
from .models import DRIVEN, Branch
from .runner import known_to, recorder_for
from .wanted import wanted

log = logging.getLogger(__name__)

AGAIN = 2.0


def save(branch_id: str) -> None:
    """A branch that somebody drives is looked at again: it may come to rest before it has taken it.

    One that somebody begins to drive meanwhile gets a snapshot that its trace does not tell of: the two may differ.
    """
    found = Branch.objects.filter(pk=branch_id).select_related("run__task__owner", "run__trace", "machine")
    for branch in found:
        machine = branch.machine
        if machine is None or machine.state != MachineState.READY:
            return
        clean = known_to(branch)
        recorder = recorder_for(branch, Lease(branch.pk, branch.fence), clean)
        keeper = BranchKeeper(branch, machine, recorder, clean.text)
        try:
            while label := wanted(machine):
                if branch.state in DRIVEN:
                    hints.send("save", branch_id, delay=AGAIN)
                    return
                keeper.snapshot(label)
        except (SandboxError, TraceError) as error:
            log.warning("branch %s was not saved: %s", branch, error)
