"""The only writer of a branch's state, and of its run's. A move is one conditional update."""

import logging
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from sandboxes import lifecycle as machines
from sandboxes.models import ENDED as MACHINE_ENDED
from traces import lifecycle as traces

from .models import DRIVEN, ENDED, RESTING, Branch, Note, Run, State, Wish

log = logging.getLogger(__name__)

MOVES: Mapping[State, tuple[State, ...]] = {
    State.QUEUED: RESTING,
    State.PROVISIONING: (State.QUEUED,),
    State.RUNNING: (State.QUEUED, State.PROVISIONING),
    State.PAUSED: DRIVEN,
    State.NEEDS_HELP: DRIVEN,
    State.SUCCEEDED: DRIVEN,
    State.FAILED: DRIVEN,
    State.CANCELLED: (*DRIVEN, *RESTING),
    State.INFRA_ERROR: DRIVEN,
}


def move(branch_id: str, to: State, detail: str = "", **columns: Any) -> bool:
    """False when it is elsewhere by now. Ends give the machine back unless the task keeps it."""
    with transaction.atomic():
        moved = Branch.objects.filter(pk=branch_id, state__in=MOVES[to]).update(
            state=to, state_since=timezone.now(), detail=detail[:2000], **columns
        )
        if moved:
            branch = Branch.objects.select_related("run__task", "machine").get(pk=branch_id)
            _mirror(branch)
            if to in ENDED:
                _give_back(branch)
    return bool(moved)


def request_pause(branch: Branch) -> None:
    Branch.objects.filter(pk=branch.pk, state__in=DRIVEN).update(wish=Wish.PAUSE)


def request_cancel(branch: Branch) -> None:
    """At once when nobody drives it, else before the next request or action."""
    Branch.objects.filter(pk=branch.pk).update(wish=Wish.CANCEL)
    if branch.state in RESTING:
        move(branch.pk, State.CANCELLED, "Cancelled")


def request_resume(branch: Branch) -> bool:
    moved = move(branch.pk, State.QUEUED, wish=Wish.NONE, question="")
    if moved:
        enqueue(branch.pk)
    return moved


def add_note(branch: Branch, text: str, author: Any = None) -> Note:
    """Heard before the next request to the model; a branch that rests for an answer goes on."""
    note = Note.objects.create(branch=branch, text=text, author=author)
    if branch.state == State.NEEDS_HELP:
        request_resume(branch)
    return note


def enqueue(branch_id: str) -> None:
    """A hint: the reconciler finds branches that nobody drives."""
    from sandboxes.tasks import BrokerDown

    from . import tasks

    try:
        tasks.drive.apply_async((branch_id,), queue="agents", retry=False)
    except (OSError, BrokerDown) as error:
        log.warning("branch %s waits for the reconciler: %s", branch_id, error)


def _mirror(branch: Branch) -> None:
    if branch.parent_id is None:
        over = timezone.now() if branch.ended else None
        Run.objects.filter(pk=branch.run_id).update(state=branch.state, ended_at=over)
        traces.mark(branch.run.trace_id, branch.state, ended=branch.ended)


def _give_back(branch: Branch) -> None:
    machine = branch.machine
    if machine is not None and machine.state not in MACHINE_ENDED and not branch.run.task.keep_machine:
        transaction.on_commit(lambda: machines.request_destroy(machine))
