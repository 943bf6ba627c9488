"""A person's word on what no fork undoes. The run rests until it is there; the answer is a note, and a new turn."""

from typing import Any

from . import lifecycle
from .effects import commands_of
from .endings import GaveUp, Parked
from .history import Planned
from .keeping import BranchKeeper
from .models import Branch, OnHelp, State
from .plan import Plan

ASKED = "May this be done? It leaves the machine ({}), so no branch undoes it."
ALLOWED = "Yes, do it."
REFUSED = "No, do not do that."


def consent(branch: Branch, keeper: BranchKeeper, planned: Planned, effect: str) -> bool:
    """Whether it may be done; the machine is saved before, if the task says so. Raises as `allowed` does."""
    plan = Plan.of(branch.run)
    if plan.approve and not allowed(branch, planned, effect):
        return False
    if plan.risky:
        keeper.save_before(effect)
    return True


def allowed(branch: Branch, planned: Planned, effect: str) -> bool:
    """What somebody has said. Raises Parked until then, GaveUp where nobody is to be asked."""
    asked, word = Branch.objects.values_list("asks_for", "allowed").get(pk=branch.pk)
    if asked == planned.id and word is not None:
        return bool(word)
    question = f"{ASKED.format(effect)}\n\n{_told(planned)}"
    if branch.run.task.on_help == OnHelp.CONTINUE:
        return False
    if branch.run.task.on_help == OnHelp.STOP:
        raise GaveUp(f"The agent needs a person's word: {question}")
    Branch.objects.filter(pk=branch.pk).update(asks_for=planned.id, allowed=None)
    raise Parked("A person's word is asked for.", question)


def asks(branch: Branch) -> bool:
    """Whether it rests for a yes or a no."""
    return branch.state == State.NEEDS_HELP and branch.asks_for is not None and branch.allowed is None


def answer(branch: Branch, person: Any, *, allow: bool, word: str = "") -> bool:
    """False when it does not ask any more."""
    waiting = Branch.objects.filter(pk=branch.pk, state=State.NEEDS_HELP, asks_for__isnull=False, allowed=None)
    if not waiting.update(allowed=allow):
        return False
    branch.refresh_from_db()
    lifecycle.add_note(branch, " ".join(filter(None, (ALLOWED if allow else REFUSED, word.strip()))), person)
    return True


def _told(planned: Planned) -> str:
    given = planned.call.input
    said = next(iter(commands_of(planned.call)), "") or given.get("text") or given.get("coordinate") or ""
    return f"{planned.call.name.replace('_', ' ')}: {str(said)[:1500]}".rstrip(": ")
