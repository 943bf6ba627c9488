"""Who drives a run, what it is doing, and for how long: one line for every place where a run appears."""

from dataclasses import dataclass
from datetime import datetime

from agents.endings import PAUSED
from agents.models import Branch, State, Wish
from traces.events import Fate, Kind
from traces.steps import Step

from ..access import Person
from ..templatetags.tracing import run_look

PRESENT = {
    "Clicked": "Clicking",
    "Middle-clicked": "Middle-clicking",
    "Right-clicked": "Right-clicking",
    "Double-clicked": "Double-clicking",
    "Triple-clicked": "Triple-clicking",
    "Moved": "Moving",
    "Held": "Holding",
    "Let": "Letting",
    "Dragged": "Dragging",
    "Scrolled": "Scrolling",
    "Typed": "Typing",
    "Pressed": "Pressing",
    "Waited": "Waiting",
    "Ran": "Running",
    "Read": "Reading",
    "Wrote": "Writing",
    "Edited": "Editing",
    "Listed": "Listing",
    "Checked": "Checking",
    "Asked": "Asking",
    "Delivered": "Delivering",
    "Looked": "Looking",
    "Says": "Saying",
}


@dataclass(frozen=True)
class Doing:
    """`who` is a chip of that tone, `what` follows it, since then."""

    icon: str
    tone: str
    who: str
    what: str
    since: datetime


def doing(branch: Branch, last: Step | None, person: Person) -> Doing:
    if branch.state == State.RUNNING:
        return _running(branch, last)
    look = run_look(branch.state)
    words = {
        State.QUEUED: branch.detail or "Waiting for a worker",
        State.PROVISIONING: "Its machine is being made",
        State.NEEDS_HELP: branch.question,
        State.PAUSED: paused(branch, person),
    }
    return Doing(look.icon, look.tone, look.word, words.get(State(branch.state), branch.detail), branch.state_since)


def paused(branch: Branch, person: Person) -> str:
    """Why it rests; whoever paused it is you to that person."""
    mine = branch.paused_by_id == person.pk and branch.detail == PAUSED.format(person.get_username())
    return PAUSED.format("You") if mine else branch.detail


def _running(branch: Branch, last: Step | None) -> Doing:
    what, since = _act(last)
    if branch.wish == Wish.PAUSE:
        what = f"{what}, then it pauses"
    elif branch.wish == Wish.CANCEL:
        what = f"{what}, then it stops"
    return Doing("bot", "run", "Agent is driving", what, since or branch.state_since)


def _act(last: Step | None) -> tuple[str, datetime | None]:
    """What goes on now: the action that was begun, else the model's turn to think."""
    if last is None:
        return "Looking at the desktop", None
    event = last.event
    if event.kind == Kind.ACTION and event.fate in (Fate.INTENT, Fate.PLANNED):
        return present(last.sentence), event.started_at
    return "Thinking", event.ended_at


def present(sentence: str) -> str:
    """Clicked at 3, 4 … → Clicking at 3, 4."""
    first, space, rest = sentence.removesuffix(" …").removesuffix(" (planned)").partition(" ")
    return f"{PRESENT.get(first, first)}{space}{rest}"
