"""The desktop's vocabulary: seventeen words that become actions in pixels of the screen."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from sandboxes.actions import (
    Action,
    BadAction,
    Button,
    Click,
    Drag,
    Hold,
    Key,
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    Type,
    Wait,
)

from ..coords import Frame
from ..errors import BadCall

TOOLSET = "computer"
LOOKS = ("screenshot", "zoom", "cursor_position")
"""Change nothing, and may be done any number of times."""

Given = Mapping[str, Any]


def action_of(name: str, given: Given, frame: Frame) -> Action:
    """In pixels of the screen. Raises BadCall, which names the field."""
    if name not in ACTIONS:
        raise BadCall(f"There is no action “{name[:50]}”; there are {', '.join((*LOOKS, *ACTIONS))}.")
    fields, make = ACTIONS[name]
    for field in given:
        if field not in fields:
            raise BadCall(f"{field}: {name} has no such field; it has {', '.join(fields) or 'none'}.")
    try:
        return make(given, frame)
    except BadAction as error:
        raise BadCall(str(error)) from None


def point(given: Given, frame: Frame, field: str = "coordinate") -> tuple[int, int] | tuple[None, None]:
    value = given.get(field)
    if value is None:
        return None, None
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise BadCall(f"{field}: must be [x, y].")
    return frame.to_pixels(*value)


def needed(given: Given, frame: Frame, field: str = "coordinate") -> tuple[int, int]:
    x, y = point(given, frame, field)
    if x is None or y is None:
        raise BadCall(f"{field}: is needed, as [x, y].")
    return x, y


def text(given: Given, *, default: str | None = None) -> str:
    value = given.get("text", default)
    if not isinstance(value, str):
        raise BadCall("text: is needed, and must be text.")
    return value


def _click(button: Button, count: int = 1) -> Callable[[Given, Frame], Action]:
    def make(given: Given, frame: Frame) -> Action:
        x, y = point(given, frame)
        return Click(x, y, button, count, text(given, default=""))

    return make


def _drag(given: Given, frame: Frame) -> Action:
    x, y = point(given, frame, "start_coordinate")
    to_x, to_y = needed(given, frame)
    return Drag(x, y, to_x, to_y, holding=text(given, default=""))


def _scroll(given: Given, frame: Frame) -> Action:
    amount = given.get("scroll_amount", 3)
    if not isinstance(amount, int) or isinstance(amount, bool) or amount < 0:
        raise BadCall("scroll_amount: must be a whole number of wheel clicks, 0 or more.")
    down, right = {
        "up": (-amount, 0),
        "down": (amount, 0),
        "left": (0, -amount),
        "right": (0, amount),
    }.get(given.get("scroll_direction", ""), (None, None))
    if down is None or right is None:
        raise BadCall("scroll_direction: must be up, down, left or right.")
    x, y = point(given, frame)
    return Scroll(x, y, down, right, text(given, default=""))


def _seconds(given: Given) -> float:
    value = given.get("duration")
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise BadCall("duration: is needed, in seconds.")
    return value


CLICK_FIELDS = ("coordinate", "text")
ACTIONS: Mapping[str, tuple[tuple[str, ...], Callable[[Given, Frame], Action]]] = {
    "left_click": (CLICK_FIELDS, _click(Button.LEFT)),
    "right_click": (CLICK_FIELDS, _click(Button.RIGHT)),
    "middle_click": (CLICK_FIELDS, _click(Button.MIDDLE)),
    "double_click": (CLICK_FIELDS, _click(Button.LEFT, 2)),
    "triple_click": (CLICK_FIELDS, _click(Button.LEFT, 3)),
    "left_click_drag": (("start_coordinate", *CLICK_FIELDS), _drag),
    "mouse_move": (("coordinate",), lambda given, frame: Move(*needed(given, frame))),
    "left_mouse_down": ((), lambda _given, _frame: MouseDown()),
    "left_mouse_up": ((), lambda _given, _frame: MouseUp()),
    "scroll": (("scroll_direction", "scroll_amount", *CLICK_FIELDS), _scroll),
    "type": (("text",), lambda given, _: Type(text(given))),
    "key": (("text", "repeat"), lambda given, _: Key(text(given), given.get("repeat", 1))),
    "hold_key": (("text", "duration"), lambda given, _: Hold(text(given), _seconds(given))),
    "wait": (("duration",), lambda given, _: Wait(_seconds(given))),
}
