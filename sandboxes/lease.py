"""Who may drive a machine: nobody, the agent, or one person. The row is the truth, the fence on the host follows it.

A change is one conditional update that names the epoch it has seen and makes it grow: of two who want to change it at
once, one does. It counts on the host when the verb returns; nobody can send under an older epoch from then on. Whoever
calls a verb here is not inside a transaction, for what a fence was told cannot be rolled back.
"""

import logging
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from . import lifecycle, publish
from .display.barrier import wait_for_input
from .errors import Gone, Refused
from .fence import Fence, Holding, clock
from .host import here
from .models import ENDED, Lease, Machine

log = logging.getLogger(__name__)

NOBODY, AGENT = "", "agent"
SECONDS = 300
BEAT_SECONDS = 15
SILENT_SECONDS = 45
"""A page that was not heard of for so long is closed, and whoever drove by it has left."""
WARNING_SECONDS = 60
ASK_SECONDS = 60


@dataclass(frozen=True)
class Grip:
    """An agent's hold on a machine, for as long as its epoch lasts."""

    machine_id: str
    epoch: int

    def sending(self) -> AbstractContextManager[None]:
        return fence_of(self.machine_id).passing(AGENT, self.epoch)


def fence_of(machine_id: str) -> Fence:
    return Fence(here().run / "fences" / machine_id)


def holder_of(person: Any) -> str:
    return f"user:{person.pk}"


def person_id(holder: str) -> int | None:
    return int(holder.removeprefix("user:")) if holder.startswith("user:") else None


def of(machine_id: str) -> Lease:
    return Lease.objects.get_or_create(machine_id=machine_id)[0]


def look(machine_id: str) -> Lease:
    """For one who only wants to know."""
    return Lease.objects.filter(machine_id=machine_id).first() or Lease(machine_id=machine_id)


def change(lease: Lease, holder: str, words: str = "") -> bool:
    """False when somebody was quicker. `words` are told in the machine's story.

    Who loses it is told first: the rest waits for what they are just sending, and for the display.
    """
    now, loser = timezone.now(), person_id(lease.holder)
    ends = now + timedelta(seconds=SECONDS) if person_id(holder) else None
    columns = {"expires": ends, "seen_at": now if ends else None, "asker": "", "asked_at": None}
    seen = Lease.objects.filter(pk=lease.pk, epoch=lease.epoch)
    if not seen.update(holder=holder, epoch=lease.epoch + 1, since=now, **columns):
        lease.refresh_from_db()
        return False
    lease.refresh_from_db()
    if loser:
        publish.lease_changing(lease)
    fence_of(lease.machine_id).put(Holding)
    if holder:
        _wait_for_input(lease.machine)
        settle(lease)
    publish.lease_changed(lease)
    if words:
        lifecycle.note(lease.machine, words)
    return True


def settle(lease: Lease) -> None:
    """Make the fence say what the row says now. Raises Unavailable when whoever is sending does not come to an end."""
    fence_of(lease.machine_id).put(lambda: _holding(look(lease.machine_id)))


def _holding(lease: Lease) -> Holding:
    ends = end_of(lease)
    until = clock() + (ends - timezone.now()).total_seconds() if ends else None
    return Holding(lease.holder, lease.epoch, until)


def counts(lease: Lease) -> bool:
    """Whether its holder can send already. Rows change first, and the host follows once whoever drove has finished."""
    held = fence_of(lease.machine_id).held()
    return (held.holder, held.epoch) == (lease.holder, lease.epoch)


def _wait_for_input(machine: Machine) -> None:
    """Of whoever drove before. A display that does not answer obeys nobody, and is not waited for."""
    endpoint = lifecycle.attach(machine).endpoint()
    try:
        wait_for_input(endpoint.host, endpoint.vnc_port)
    except (Gone, Refused) as error:
        log.warning("machine %s: %s", machine.pk, error)


def end_of(lease: Lease) -> datetime | None:
    if lease.expires is None or lease.seen_at is None:
        return None
    return min(lease.expires, lease.seen_at + timedelta(seconds=SILENT_SECONDS))


def seconds_left(lease: Lease) -> int:
    return max(0, round((lease.expires - timezone.now()).total_seconds())) if lease.expires else 0


def grip(machine: Machine) -> Grip | None:
    """The machine for an agent, out of the hands of any other worker. None while a person drives it."""
    lease = of(machine.pk)
    while not person_id(lease.holder):
        if change(lease, AGENT):
            return Grip(machine.pk, lease.epoch)
    return None


def let_go(grip: Grip) -> None:
    lease = of(grip.machine_id)
    if lease.epoch == grip.epoch:
        change(lease, NOBODY)


def beat(lease: Lease, holder: str, *, longer: bool) -> bool:
    """This person's page is there; `longer` gives the whole time again. False when it is not theirs any more."""
    now = timezone.now()
    columns = {"seen_at": now} | ({"expires": now + timedelta(seconds=SECONDS)} if longer else {})
    mine = Lease.objects.filter(pk=lease.pk, epoch=lease.epoch, holder=holder).exclude(_overdue(now))
    if not mine.update(**columns):
        return False
    lease.refresh_from_db()
    settle(lease)
    return True


def ask(lease: Lease, holder: str) -> bool:
    """To have it from the person who drives. False while somebody else asks, or when nobody drives."""
    now = timezone.now()
    free = Q(asker__in=("", holder)) | Q(asked_at__lt=now - timedelta(seconds=ASK_SECONDS))
    driven = Lease.objects.filter(pk=lease.pk, epoch=lease.epoch, holder__startswith="user:").exclude(holder=holder)
    asked = driven.filter(free).update(asker=holder, asked_at=now)
    lease.refresh_from_db()
    publish.lease_changed(lease)
    return bool(asked)


def asking(lease: Lease) -> str:
    """Who asks; a question that was not answered is over after a minute."""
    recent = lease.asked_at and timezone.now() - lease.asked_at < timedelta(seconds=ASK_SECONDS)
    return lease.asker if recent else NOBODY


def decline(lease: Lease, asker: str) -> None:
    Lease.objects.filter(pk=lease.pk, asker=asker).update(asker="", asked_at=None)
    lease.refresh_from_db()
    publish.lease_changed(lease)


def overdue() -> QuerySet[Lease]:
    """Of people whose time is over, or who have left, or whose machine has ended."""
    driven = Lease.objects.filter(holder__startswith="user:").select_related("machine")
    return driven.filter(_overdue(timezone.now()) | Q(machine__state__in=ENDED))


def is_overdue(lease: Lease) -> bool:
    ends = end_of(lease)
    return ends is not None and ends <= timezone.now()


def forget_ended() -> None:
    """Fences of machines that have ended."""
    directory = here().run / "fences"
    kept = {path.name for path in directory.iterdir()} if directory.is_dir() else set()
    for machine_id in kept - set(Machine.objects.exclude(state__in=ENDED).values_list("pk", flat=True)):
        (directory / machine_id).unlink(missing_ok=True)


def _overdue(now: datetime) -> Q:
    return Q(expires__lte=now) | Q(seen_at__lte=now - timedelta(seconds=SILENT_SECONDS))
