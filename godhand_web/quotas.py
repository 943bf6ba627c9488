"""How much one person may use at once. Asked whenever a row is made, by a page, a schedule or a program alike."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db.models import Sum
from django.db.models.signals import pre_save
from django.dispatch import receiver
from django.template.defaultfilters import filesizeformat

from agents.errors import BadTask
from agents.models import ENDED as RUN_ENDED
from agents.models import Run
from sandboxes.database import stand_alone
from sandboxes.models import OFF_HOST, Machine, Snapshot
from sandboxes.slots import SlotsUsed
from traces import retention
from traces.models import Job

from .models import User

GIGABYTE = 10**9
NAMED = 3


class QuotaUsed(SlotsUsed):
    """A run that needs a machine waits for it, as it does for a slot of the host."""


class TooManyTasks(BadTask):
    pass


@dataclass(frozen=True)
class Quota:
    """What a person may have of something; `most` None is without end."""

    what: str
    used: int
    most: int | None

    @property
    def is_used_up(self) -> bool:
        return self.most is not None and self.used >= self.most


def most_of(own: int | None, usual: int) -> int | None:
    return own if own is not None else usual or None


def most_machines(person: User) -> int | None:
    return most_of(person.most_machines, settings.USER_MACHINES)


def most_tasks(person: User) -> int | None:
    return most_of(person.most_tasks, settings.USER_TASKS)


def most_disk(person: User) -> int | None:
    return most_of(person.most_disk, settings.USER_DISK_GB * GIGABYTE)


def machines_of(person: User) -> Quota:
    used = Machine.objects.filter(owner=person).exclude(state__in=OFF_HOST).count()
    return Quota("machines at once", used, most_machines(person))


def tasks_of(person: User) -> Quota:
    used = Run.objects.filter(task__owner=person).exclude(state__in=RUN_ENDED).count()
    return Quota("tasks at once", used, most_tasks(person))


def disk_of(person: User) -> Quota:
    snapshots = Snapshot.objects.filter(owner=person).aggregate(all=Sum("size"))["all"] or 0
    exports = Job.objects.filter(owner=person).aggregate(all=Sum("size"))["all"] or 0
    return Quota("disk", snapshots + exports + retention.used_by(person), most_disk(person))


def check_machines(owner_id: int) -> None:
    """Raises QuotaUsed."""
    person = _person(owner_id)
    if most_machines(person) is not None and (quota := machines_of(person)).is_used_up:
        raise QuotaUsed(f"{limit(person, many(quota.most, 'machine'))}: destroy or stop one, or {raisers()}.")
    check_disk(owner_id)


def check_disk(owner_id: int) -> None:
    """Raises QuotaUsed."""
    person = _person(owner_id)
    if most_disk(person) is not None and (quota := disk_of(person)).is_used_up:
        much, used = filesizeformat(quota.most or 0), filesizeformat(quota.used)
        told = f"{limit(person, f'{much} of disk')} and {used} are used"
        raise QuotaUsed(f"{told}: delete snapshots or traces, or {raisers()}.")


def check_tasks(owner_id: int) -> None:
    """Raises TooManyTasks."""
    person = _person(owner_id)
    if most_tasks(person) is not None and (quota := tasks_of(person)).is_used_up:
        raise TooManyTasks(f"{limit(person, many(quota.most, 'task'))}: wait for one to end, or {raisers()}.")


def no_room_for_a_machine(owner_id: int) -> str:
    """Why not one more, in a sentence; empty when there is room."""
    try:
        check_machines(owner_id)
    except QuotaUsed as error:
        return str(error)
    return ""


def no_room_on_disk(owner_id: int) -> str:
    try:
        check_disk(owner_id)
    except QuotaUsed as error:
        return str(error)
    return ""


def many(most: int | None, what: str) -> str:
    return f"{most} {what}{'' if most == 1 else 's'} at once"


def limit(person: User, much: str) -> str:
    return f"{person.get_username()} has a limit of {much}"


def raisers() -> str:
    """Who can raise it, by name."""
    admins = list(User.objects.filter(is_staff=True, is_active=True).order_by("pk").values_list("username", flat=True))
    names = " or ".join(admins[:NAMED]) or "an administrator"
    return f"ask {names} to raise it under Settings, People"


@receiver(pre_save, sender=Machine)
def before_a_machine(instance: Machine, raw: bool = False, **_: Any) -> None:
    if instance._state.adding and not raw:
        stand_alone(f"what {instance.owner_id} has")
        check_machines(instance.owner_id)


@receiver(pre_save, sender=Run)
def before_a_run(instance: Run, raw: bool = False, **_: Any) -> None:
    if instance._state.adding and not raw:
        stand_alone(f"what {instance.task.owner_id} has")
        check_tasks(instance.task.owner_id)
        try:
            check_disk(instance.task.owner_id)
        except QuotaUsed as error:
            raise TooManyTasks(str(error)) from None


def _person(number: int) -> User:
    return User.objects.get(pk=number)
