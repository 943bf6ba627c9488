"""The ways out of a take-over: given back, withdrawn, expired.

    driving ─▶ continue │ branch from before │ stop          driving ─▶ time over ─▶ the branch rests

A branch never goes on by itself: somebody said so, or it rests.
"""

from datetime import timedelta
from typing import Any

from django.utils import timezone

from sandboxes import lease
from sandboxes.models import ENDED as MACHINE_ENDED
from sandboxes.models import Lease, Machine
from traces.payloads import EventId

from . import lifecycle
from .branching import Way, open_branches
from .errors import BadTask
from .models import Branch, State, Takeover, Wish
from .runner import known_to
from .takeover import pending

ABANDONED_SECONDS = 60
WITHOUT = "Go on without what a person did to the desktop in between."


def hand_back(machine: Machine, person: Any, choice: Takeover.Choice, note: str = "") -> bool:
    """False when it is not theirs any more. Raises BadTask when the run may have no more branches."""
    held, takeover = lease.of(machine.pk), pending(machine)
    if held.holder != lease.holder_of(person):
        return False
    if takeover and choice == Takeover.Choice.BRANCH:
        _branch(takeover, note)
    if not lease.change(held, lease.NOBODY, f"{person.get_username()} gave control back"):
        return False
    if takeover:
        _end(takeover, choice, note)
    return True


def expire(held: Lease) -> None:
    """Nobody drives, and the branch rests: an agent that went on by itself would surprise everybody."""
    if lease.change(held, lease.NOBODY, "The time of whoever drove is over"):
        takeover = pending(held.machine)
        if takeover:
            _end(takeover, Takeover.Choice.EXPIRED)


def sweep() -> None:
    """What pages that were closed, and processes that died, have left."""
    for held in lease.overdue():
        expire(held)
    long_ago = timezone.now() - timedelta(seconds=ABANDONED_SECONDS)
    for takeover in Takeover.objects.filter(ended_at=None, asked_at__lt=long_ago).select_related("branch__machine"):
        machine = takeover.branch.machine
        if machine is None or machine.state in MACHINE_ENDED or not lease.person_id(lease.look(machine.pk).holder):
            began = takeover.began_at is not None
            _end(takeover, Takeover.Choice.EXPIRED if began else Takeover.Choice.WITHDRAWN)
    begun = Takeover.objects.filter(ended_at=None).values("branch")
    for branch in Branch.objects.filter(state=State.HUMAN_CONTROL).exclude(pk__in=begun):
        _rest(branch)
    lease.forget_ended()


def withdraw(machine: Machine, person: Any) -> bool:
    """A person who has asked, and has not got it yet, does not want it any more. The agent goes on."""
    takeover = pending(machine)
    if takeover is None or takeover.person_id != person.pk or takeover.began_at:
        return False
    branch = takeover.branch
    had_yielded = branch.state == State.HUMAN_CONTROL and takeover.saving_since is None
    _end(takeover, Takeover.Choice.WITHDRAWN)
    if had_yielded:
        lifecycle.request_resume(branch)
    return True


def _end(takeover: Takeover, choice: Takeover.Choice, note: str = "") -> None:
    branch = takeover.branch
    clean = known_to(branch).text(note.strip())
    columns = {"ended_at": timezone.now(), "choice": choice, "note": clean}
    if not Takeover.objects.filter(pk=takeover.pk, ended_at=None).update(**columns):
        return
    Branch.objects.filter(pk=branch.pk, wish=Wish.YIELD).update(wish=Wish.NONE)
    branch.refresh_from_db()
    if branch.state == State.HUMAN_CONTROL:
        _rest(branch)
    if choice == Takeover.Choice.CONTINUE:
        lifecycle.request_resume(branch)
    elif choice == Takeover.Choice.STOP:
        lifecycle.request_stop(branch)


def _rest(branch: Branch) -> None:
    """A question that nobody has answered is still one."""
    rests = State.NEEDS_HELP if branch.question else State.PAUSED
    lifecycle.move(branch.pk, rests, "Nobody drives the machine.")


def _branch(takeover: Takeover, note: str) -> None:
    """A sibling from before the person came. What they did stays where it is, resting."""
    if not takeover.head or not takeover.snapshot_id:
        raise BadTask("The machine was not saved before the take-over: there is nothing to go back to.")
    way = Way(known_to(takeover.branch).text(note.strip()) or WITHOUT)
    open_branches(takeover.branch, EventId(takeover.head), takeover.snapshot_id, [way], key=f"takeover {takeover.pk}")
