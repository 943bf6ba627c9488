"""One call of a model, carried out: on the desktop, or by a tool."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from sandboxes.actions import Action, BadAction, Type
from sandboxes.display.diff import Diff, diff
from sandboxes.display.screen import Screen
from sandboxes.display.settle import PANEL_CLOCK
from sandboxes.errors import Gone, SandboxError

from .errors import BadCall
from .tools.base import Outcome
from .tools.computer import LOOKS, TOOLSET, action_of
from .tools.registry import tool
from .turns import Call
from .workplace import Workplace


@dataclass(frozen=True)
class Performed:
    """`screens` are those before and after. `settle_ms` is None for what the screen was not waited for."""

    outcome: Outcome
    screens: tuple[Screen, Screen]
    change: Diff
    settle_ms: int | None = None


@dataclass(frozen=True)
class Prepared:
    """A call that makes sense. `act` is what will be done, in pixels; `run` does it, after the screen was seen."""

    act: dict[str, Any]
    run: Callable[[Screen], Performed]
    repeatable: bool


def prepare(call: Call, place: Workplace) -> Prepared:
    """Raises BadCall and NotAllowed; then nothing has been done. `act` names secrets, as the call does."""
    place.policy.check(replace(call, input=place.secrets.fill(call.input)))
    if call.toolset != TOOLSET:
        chosen = tool(call.name)
        chosen.check(call.input)
        filled = replace(call, input=chosen.filled(call.input, place.secrets))
        return Prepared({}, lambda before: _by_tool(filled, place, before), chosen.may_repeat(call.input))
    if call.name in LOOKS:
        return Prepared({}, lambda before: _by_looking(call, place, before), True)
    action = action_of(call.name, call.input, place.frame)
    act = {"action": type(action).__name__, **asdict(action)}
    return Prepared(act, lambda before: _by_acting(action, place, before), call.name == "wait")


def _filled(action: Action, place: Workplace) -> Action:
    return replace(action, text=place.secrets.fill(action.text)) if isinstance(action, Type) else action


def _by_acting(action: Any, place: Workplace, before: Screen) -> Performed:
    try:
        settled = place.perform(_filled(action, place))
    except BadAction as error:
        return _unchanged(Outcome(str(error), ok=False), before)
    return Performed(Outcome(), (before, settled.screen), changed(before, settled.screen), round(settled.waited_ms))


def _by_tool(call: Call, place: Workplace, before: Screen) -> Performed:
    try:
        outcome = tool(call.name).run(call.input, place)
    except Gone:
        raise
    except (BadCall, SandboxError) as error:
        return _unchanged(Outcome(str(error), ok=False), before)
    after = place.look()
    return Performed(outcome, (before, after), changed(before, after))


def _by_looking(call: Call, place: Workplace, screen: Screen) -> Performed:
    try:
        return _unchanged(LOOKERS[call.name](call, place, screen), screen)
    except BadCall as error:
        return _unchanged(Outcome(str(error), ok=False), screen)


def _screenshot(_: Call, place: Workplace, screen: Screen) -> Outcome:
    return Outcome("The screen now.", picture=place.frame.picture(screen))


def _zoom(call: Call, place: Workplace, screen: Screen) -> Outcome:
    region = call.input.get("region")
    if not isinstance(region, list | tuple) or len(region) != 4:
        raise BadCall("region: must be [x0, y0, x1, y1].")
    frame = place.frame
    box = frame.box_to_pixels(*region)
    picture = frame.encode(screen.zoom(box, frame.size).image().convert("RGB"))
    return Outcome(f"The part {box.width}×{box.height} at {box.x}, {box.y}.", picture=picture)


def _cursor(_: Call, place: Workplace, screen: Screen) -> Outcome:
    x, y = place.frame.to_model(*place.desktop().locate())
    return Outcome(f"X={x},Y={y}")


LOOKERS: dict[str, Callable[[Call, Workplace, Screen], Outcome]] = {
    "screenshot": _screenshot,
    "zoom": _zoom,
    "cursor_position": _cursor,
}


def changed(before: Screen, after: Screen) -> Diff:
    return Diff(0.0, []) if after is before else diff(before, after, (PANEL_CLOCK,))


def _unchanged(outcome: Outcome, screen: Screen) -> Performed:
    return Performed(outcome, (screen, screen), Diff(0.0, []))
