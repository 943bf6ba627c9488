"""Who drives a branch. A lease is a conditional update; its fence number goes with every write."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.db.models import F, QuerySet
from django.utils import timezone

from sandboxes.models import ENDED as MACHINE_ENDED
from traces.errors import Fenced

from .models import DRIVEN, Branch, State
from .renewal import renewed

LOST = "Another worker drives this branch now."


@dataclass
class Lease:
    """Good for GODHAND_LEASE_SECONDS from its last renewal, by a clock that goes on while this process is stopped."""

    branch_id: str
    fence: int
    renewed: float = field(default_factory=time.monotonic)

    def guard(self) -> None:
        """Inside every transaction that writes for the branch. Raises Fenced."""
        if not self._mine().update(fence=self.fence):
            raise Fenced(LOST)

    def check(self) -> None:
        """Without the database, just before an act that cannot be taken back. Raises Fenced."""
        if time.monotonic() - self.renewed > settings.LEASE_SECONDS:
            raise Fenced("This worker was stopped for longer than its lease.")

    def renew(self) -> None:
        """Raises Fenced."""
        now = time.monotonic()
        if not self._mine().update(lease_until=timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)):
            raise Fenced(LOST)
        self.renewed = now

    def release(self) -> None:
        self._mine().update(lease_until=timezone.now(), worker="")

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Renewed beside the work, and released after it."""
        try:
            with renewed(self._renew, f"lease {self.branch_id}"):
                yield
        finally:
            self.release()

    def _renew(self) -> bool:
        try:
            self.renew()
        except Fenced:
            return False
        return True

    def _mine(self) -> QuerySet[Branch]:
        return Branch.objects.filter(pk=self.branch_id, fence=self.fence)


def claim(branch_id: str) -> Lease | None:
    """None when somebody else drives it, or when it is not to be driven."""
    now = timezone.now()
    taken = Branch.objects.filter(pk=branch_id, state__in=DRIVEN, lease_until__lte=now).update(
        fence=F("fence") + 1,
        lease_until=now + timedelta(seconds=settings.LEASE_SECONDS),
        worker=f"{socket.gethostname()}:{os.getpid()}",
    )
    if not taken:
        return None
    return Lease(branch_id, Branch.objects.values_list("fence", flat=True).get(pk=branch_id))


def expired() -> list[str]:
    """Branches that somebody should drive and nobody does."""
    return list(Branch.objects.filter(state__in=DRIVEN, lease_until__lte=timezone.now()).values_list("pk", flat=True))


def bereft() -> QuerySet[Branch]:
    """Under way in machines that have ended."""
    running = Branch.objects.filter(state=State.RUNNING, machine__state__in=MACHINE_ENDED)
    return running.select_related("run__task__owner", "run__trace", "machine")


def take_over(branch_id: str) -> Lease:
    """From whoever drives it: for a branch that cannot go on."""
    Branch.objects.filter(pk=branch_id).update(fence=F("fence") + 1)
    return Lease(branch_id, Branch.objects.values_list("fence", flat=True).get(pk=branch_id))
