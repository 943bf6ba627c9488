"""How many machines this host may have at once."""

from django.conf import settings

from .database import stand_alone
from .errors import SandboxError
from .models import LEAVING, OFF_HOST, Machine


class SlotsUsed(SandboxError):
    pass


def taken(besides: str = "") -> int:
    """By machines on the host. One of those that are leaving it takes none, so that the next is made meanwhile."""
    on = Machine.objects.exclude(state__in=OFF_HOST).exclude(pk=besides)
    return on.count() - min(1, on.filter(state__in=LEAVING).count())


def check(besides: str = "") -> None:
    """Inside the transaction that takes one. Raises SlotsUsed."""
    stand_alone("machine slots")
    slots = settings.MACHINE_SLOTS
    if taken(besides) >= slots:
        raise SlotsUsed(f"All {slots} machine slots are in use: destroy a machine, or raise GODHAND_MACHINES.")
