"""What a machine may take of its host, and takes now, where its backend knows."""

from dataclasses import dataclass

from django.utils import timezone

from sandboxes import lifecycle
from sandboxes.errors import SandboxError
from sandboxes.limits import MIB, Limits, Usage
from sandboxes.models import Machine, State


@dataclass(frozen=True)
class Resources:
    machine: Machine
    limits: Limits | None = None
    usage: Usage | None = None

    @property
    def memory_most(self) -> int:
        """In bytes; none is no limit."""
        limit = self.limits.memory_mib * MIB if self.limits else 0
        return (self.usage.memory_limit if self.usage else None) or limit

    @property
    def memory_high(self) -> int:
        """More than this is a lot."""
        return self.memory_most * 85 // 100

    @property
    def disk_most(self) -> int:
        return self.limits.disk_mib * MIB if self.limits else 0

    @property
    def processors_used(self) -> float | None:
        """On average, since it became ready."""
        seconds = (timezone.now() - self.machine.state_since).total_seconds()
        return self.usage.cpu_seconds / seconds if self.usage and seconds > 1 else None


def resources_of(machine: Machine) -> Resources:
    try:
        sandbox = lifecycle.attach(machine)
        usage = sandbox.usage() if machine.state == State.READY else None
        return Resources(machine, sandbox.limits(), usage)
    except (SandboxError, TypeError, ValueError):
        # Of a backend that is not here any more, or with limits that this version does not know.
        return Resources(machine)
