"""A machine in an agent's hands: whatever is sent to it through this object is sent while it is the agent's."""

from collections.abc import Iterator
from contextlib import contextmanager

from sandboxes import lease, lifecycle
from sandboxes.base import Sandbox
from sandboxes.models import Machine
from sandboxes.rekey import agree

from .endings import Parked


@contextmanager
def holding(machine: Machine) -> Iterator[Sandbox]:
    """Raises Parked while a person drives it. Once somebody else does, every use of it raises Taken."""
    grip = lease.grip(machine)
    if grip is None:
        raise Parked("A person drives the machine.")
    try:
        agree(machine)
        sandbox = lifecycle.attach(machine)
        sandbox.guard = grip.sending
        yield sandbox
    finally:
        lease.let_go(grip)
