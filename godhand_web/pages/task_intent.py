"""What an agent is about to do, drawn over its desktop before it is done."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from agents.coords import Frame, Space
from agents.errors import BadCall
from agents.models import Branch
from agents.tools.computer import TOOLSET, action_of
from traces.events import Fate, Recorded
from traces.models import Blob
from traces.steps import Step, steps_of

from .task_doing import present
from .trace_shapes import USUAL, Shape, Size, marks


@dataclass(frozen=True)
class Intent:
    """Shapes in pixels of the screen, which has this size; none for what has no place on it."""

    size: Size
    shapes: list[Shape]
    words: str


def intent(branch: Branch, steps: Sequence[Step], number: int) -> Intent | None:
    """None when nothing is about to be done."""
    last = steps[-1] if steps and not branch.ended else None
    if last is None or last.event.fate not in (Fate.PLANNED, Fate.INTENT):
        return None
    screen, seen = _sizes(steps)
    act = last.event.act or _planned(branch, last.event, Frame(screen, seen, _space(branch)))
    (step,) = steps_of([replace(last.event, act=act, fate=Fate.INTENT)])
    return Intent(screen, marks(step, number, screen), present(step.sentence))


def _planned(branch: Branch, event: Recorded, frame: Frame) -> dict[str, Any]:
    """As the loop will write it down when it begins."""
    call = event.data
    if call.get("toolset") != TOOLSET:
        return {}
    try:
        action = action_of(event.name, call.get("input", {}), frame)
    except BadCall:
        return {}
    return {"action": type(action).__name__, **asdict(action)}


def _space(branch: Branch) -> Space:
    options = {**branch.run.task.options, **branch.model.get("options", {})}
    name = str(options.get("space", "pixels")).upper()
    return Space[name] if name in Space.__members__ else Space.PIXELS


def _sizes(steps: Sequence[Step]) -> tuple[Size, Size]:
    """Of the screen, and of the picture that the model sees of it."""
    screen = next((step.after for step in reversed(steps) if step.event.after), None)
    shown = next((picture for step in reversed(steps) if (picture := _shown(step.event))), screen)
    blobs = Blob.objects.filter(pk__in=(screen, shown))
    found = {blob.pk: (blob.width or USUAL[0], blob.height or USUAL[1]) for blob in blobs}
    size = found.get(screen or "", USUAL)
    return size, found.get(shown or "", size)


def _shown(event: Recorded) -> str | None:
    sent: dict[str, Any] = (event.result or {}).get("sent") or {}
    parts = event.data.get("parts", ())
    return sent.get("picture") or next((part["picture"] for part in parts if "picture" in part), None)
