"""The only writer of a branch's state, and of its run's. A move is one conditional update."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Case, Value, When
from django.utils import timezone

from sandboxes import lifecycle as machines
from sandboxes.models import ENDED as MACHINE_ENDED
from traces import lifecycle as traces

from . import hints, publish, vault
from .models import DRIVEN, ENDED, RESTING, Branch, Note, Run, State, Wish
from .plan import Plan
from .states import STEPWISE

LIVELIEST = (*reversed(DRIVEN), State.HUMAN_CONTROL, State.NEEDS_HELP, State.PAUSED)

MOVES: Mapping[State, tuple[State, ...]] = {
    State.QUEUED: RESTING,
    State.PROVISIONING: (State.QUEUED,),
    State.RUNNING: (State.QUEUED, State.PROVISIONING),
    State.PAUSED: (*DRIVEN, State.HUMAN_CONTROL),
    State.NEEDS_HELP: (*DRIVEN, State.HUMAN_CONTROL),
    State.HUMAN_CONTROL: (*DRIVEN, *RESTING),
    State.SUCCEEDED: DRIVEN,
    State.FAILED: DRIVEN,
    State.CANCELLED: (*DRIVEN, *RESTING, State.HUMAN_CONTROL),
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
            alone = to not in ENDED or _is_alone(branch)
            mirror(branch.run, settled=alone)
            if not alone:
                transaction.on_commit(partial(enqueue_choice, branch.run_id))
            elif to in ENDED:
                _give_back(branch)
    return bool(moved)


def rest(branch_id: str, to: State, detail: str, **columns: Any) -> None:
    """Of one that was driven. A cancel that nobody has looked at any more is granted now."""
    kept = Case(When(wish=Wish.CANCEL, then=Value(Wish.CANCEL.value)), default=Value(Wish.NONE.value))
    with transaction.atomic():
        move(branch_id, to, detail, **{**columns, "wish": kept})
        if Branch.objects.filter(pk=branch_id, wish=Wish.CANCEL).exists():
            move(branch_id, State.CANCELLED, "Cancelled")


def request_pause(branch: Branch, by: Any = None) -> bool:
    """Before the next request or action. False when nobody drives it, or it is to be cancelled."""
    driven = Branch.objects.filter(pk=branch.pk, state__in=DRIVEN).exclude(wish=Wish.CANCEL)
    asked = driven.update(wish=Wish.PAUSE, paused_by=by)
    traces.touch(branch.run.trace_id)
    return bool(asked)


def request_cancel(branch: Branch) -> None:
    """At once when nobody drives it, else before the next request or action."""
    Branch.objects.filter(pk=branch.pk).update(wish=Wish.CANCEL)
    branch.refresh_from_db(fields=["state"])
    if branch.state in (State.QUEUED, State.HUMAN_CONTROL, *RESTING):
        move(branch.pk, State.CANCELLED, "Cancelled")
    traces.touch(branch.run.trace_id)


def request_resume(branch: Branch) -> bool:
    """Goes on from where it rests; a pause that was only asked for is taken back."""
    moved = move(branch.pk, State.QUEUED, wish=Wish.NONE, question="")
    if moved:
        enqueue(branch.pk)
    kept = Branch.objects.filter(pk=branch.pk, state__in=DRIVEN, wish=Wish.PAUSE).update(wish=Wish.NONE)
    traces.touch(branch.run.trace_id)
    return moved or bool(kept)


def request_step(branch: Branch) -> bool:
    """One action further, and then it rests with the next one planned; one that is driven rests before its next."""
    moved = move(branch.pk, State.QUEUED, wish=STEPWISE, question="")
    if moved:
        enqueue(branch.pk)
    driven = Branch.objects.filter(pk=branch.pk, state__in=DRIVEN, wish=Wish.NONE).update(wish=STEPWISE)
    traces.touch(branch.run.trace_id)
    return moved or bool(driven)


def request_stop(branch: Branch) -> bool:
    """Of a branch that rests, and has yet to tell what happened while it did."""
    moved = move(branch.pk, State.QUEUED, wish=Wish.CANCEL, question="")
    if moved:
        enqueue(branch.pk)
    return moved


def add_note(branch: Branch, text: str, author: Any = None) -> Note:
    """Heard before the next request to the model; a branch that rests for an answer goes on."""
    clean = vault.cleaner_of(branch.run.task)
    note = Note.objects.create(branch=branch, text=clean.text(text), author=author)
    if branch.state == State.NEEDS_HELP:
        request_resume(branch)
    traces.touch(branch.run.trace_id)
    return note


def enqueue(branch_id: str) -> None:
    """The reconciler finds branches that nobody drives."""
    hints.send("drive", branch_id)


def enqueue_choice(run_id: str) -> None:
    """The reconciler finds runs whose branches have ended."""
    hints.send("advance", run_id)


def mirror(run: Run, *, settled: bool = True) -> None:
    """A run is what its branches make it: under way while one is, and until it is `settled` which of them counts."""
    state = _state_of(run, settled)
    over = timezone.now() if state in ENDED else None
    if (
        Run.objects.filter(pk=run.pk)
        .exclude(state=state, ended_at__isnull=over is None)
        .update(state=state, ended_at=over)
    ):
        traces.mark(run.trace_id, state, ended=state in ENDED)
        publish.run_changed(run)


def _state_of(run: Run, settled: bool) -> State:
    states = {branch.pk: State(branch.state) for branch in run.branches.all()}
    going = [state for state in LIVELIEST if state in states.values()]
    if going:
        return going[0]
    if not settled:
        return State.RUNNING
    return states.get(run.chosen_id or "") or next(iter(states.values()))


def _is_alone(branch: Branch) -> bool:
    """Whether its end is its run's: there are no others, and it is not to be tried again."""
    if Branch.objects.filter(run=branch.run_id).count() > 1:
        return False
    plan = Plan.of(branch.run)
    return branch.state not in (State.FAILED, State.INFRA_ERROR) or not (plan.recover or plan.search)


def _give_back(branch: Branch) -> None:
    machine = branch.machine
    if machine is not None and machine.state not in MACHINE_ENDED and not branch.run.task.keep_machine:
        transaction.on_commit(lambda: machines.request_destroy(machine))
