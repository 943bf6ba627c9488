"""What one can do to a desktop. Coordinates are native pixels of the screen; None stands for where the pointer is.

Actions often come from a model, so each checks itself when it is made and raises BadAction, which names the field,
for anything but what is written here. Whether a place is on the screen is known only to the Desktop.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import IntEnum

from .display.keys import keysyms_of_chord, keysyms_of_text, on_us_keyboard

MAX_SIDE = 0xFFFF
MAX_CLICKS = 3
MAX_NOTCHES = 1000
MAX_POINTS = 500
MAX_REPEAT = 100
MAX_SECONDS = 300
MAX_CHORD = 100
MAX_TEXT = 100_000
MAX_RARE = 2_000
"""Symbols that are not on a US keyboard are typed at about 30 a second."""


class BadAction(ValueError):
    """An action that cannot be carried out. The message may be shown to a person or a model."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field


class Button(IntEnum):
    """Numbered as X numbers them."""

    LEFT = 1
    MIDDLE = 2
    RIGHT = 3
    BACK = 8
    FORWARD = 9


@dataclass(frozen=True)
class Move:
    x: int
    y: int

    def __post_init__(self) -> None:
        _check_point("x", self.x, "y", self.y)


@dataclass(frozen=True)
class Click:
    """`holding` is a chord of keys that are down meanwhile, such as `ctrl` or `ctrl+shift`."""

    x: int | None = None
    y: int | None = None
    button: Button = Button.LEFT
    count: int = 1
    holding: str = ""

    def __post_init__(self) -> None:
        _check_place(self.x, self.y)
        _check_button(self.button)
        _check_whole("count", self.count, 1, MAX_CLICKS)
        _check_holding(self.holding)


@dataclass(frozen=True)
class MouseDown:
    """The button stays down, also through moves, until MouseUp, a click with it, or the end of the connection."""

    x: int | None = None
    y: int | None = None
    button: Button = Button.LEFT

    def __post_init__(self) -> None:
        _check_place(self.x, self.y)
        _check_button(self.button)


@dataclass(frozen=True)
class MouseUp:
    x: int | None = None
    y: int | None = None
    button: Button = Button.LEFT

    def __post_init__(self) -> None:
        _check_place(self.x, self.y)
        _check_button(self.button)


@dataclass(frozen=True)
class Drag:
    """From `x`, `y` through the points of `via` to `to_x`, `to_y`."""

    x: int | None
    y: int | None
    to_x: int
    to_y: int
    button: Button = Button.LEFT
    via: tuple[tuple[int, int], ...] = ()
    holding: str = ""

    def __post_init__(self) -> None:
        _check_place(self.x, self.y)
        _check_point("to_x", self.to_x, "to_y", self.to_y)
        _check_path(self.via)
        _check_button(self.button)
        _check_holding(self.holding)


@dataclass(frozen=True)
class Scroll:
    """Positive `down` and `right` are wheel clicks away from the top and the left."""

    x: int | None = None
    y: int | None = None
    down: int = 0
    right: int = 0
    holding: str = ""

    def __post_init__(self) -> None:
        _check_place(self.x, self.y)
        _check_whole("down", self.down, -MAX_NOTCHES, MAX_NOTCHES)
        _check_whole("right", self.right, -MAX_NOTCHES, MAX_NOTCHES)
        _check_holding(self.holding)


@dataclass(frozen=True)
class Type:
    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or len(self.text) > MAX_TEXT:
            raise BadAction("text", f"must be text of at most {MAX_TEXT} characters; write a file instead.")
        keysyms = _checked("text", keysyms_of_text, self.text)
        if sum(not on_us_keyboard(keysym) for keysym in keysyms) > MAX_RARE:
            raise BadAction("text", f"has more than {MAX_RARE} symbols that are on no key; write a file instead.")


@dataclass(frozen=True)
class Key:
    """A chord such as `ctrl+shift+t`, `Return` or `alt+F4`: X keysym names joined by plus signs."""

    chord: str
    repeat: int = 1

    def __post_init__(self) -> None:
        _check_chord("chord", self.chord)
        _check_whole("repeat", self.repeat, 1, MAX_REPEAT)


@dataclass(frozen=True)
class Hold:
    """A chord that stays down for a while; its last key repeats as on a keyboard."""

    chord: str
    seconds: float

    def __post_init__(self) -> None:
        _check_chord("chord", self.chord)
        _check_seconds(self.seconds)


@dataclass(frozen=True)
class Wait:
    seconds: float

    def __post_init__(self) -> None:
        _check_seconds(self.seconds)


Action = Move | Click | MouseDown | MouseUp | Drag | Scroll | Type | Key | Hold | Wait


def _check_whole(field: str, value: object, least: int, most: int) -> None:
    if type(value) is not int or not least <= value <= most:
        raise BadAction(field, f"must be a whole number from {least} to {most}.")


def _check_point(x_field: str, x: object, y_field: str, y: object) -> None:
    _check_whole(x_field, x, 0, MAX_SIDE)
    _check_whole(y_field, y, 0, MAX_SIDE)


def _check_place(x: object, y: object) -> None:
    if x is not None or y is not None:
        _check_point("x", x, "y", y)


def _check_path(points: object) -> None:
    if not isinstance(points, tuple) or len(points) > MAX_POINTS:
        raise BadAction("via", f"must be a tuple of at most {MAX_POINTS} points.")
    for point in points:
        if not isinstance(point, tuple) or len(point) != 2:
            raise BadAction("via", "must be a tuple of points, each with x and y.")
        _check_point("via", point[0], "via", point[1])


def _check_button(value: object) -> None:
    if not isinstance(value, Button):
        raise BadAction("button", f"must be one of {', '.join(button.name.lower() for button in Button)}.")


def _check_seconds(value: object) -> None:
    if type(value) not in (int, float) or not 0 <= value <= MAX_SECONDS:  # type: ignore[operator]
        raise BadAction("seconds", f"must be a number from 0 to {MAX_SECONDS}.")


def _check_holding(value: object) -> None:
    if value != "":
        _check_chord("holding", value)


def _check_chord(field: str, value: object) -> None:
    if not isinstance(value, str) or len(value) > MAX_CHORD:
        raise BadAction(field, "must be a key or a chord such as ctrl+shift+t.")
    _checked(field, keysyms_of_chord, value)


def _checked(field: str, keysyms_of: Callable[[str], Iterable[int]], value: str) -> Iterable[int]:
    try:
        return keysyms_of(value)
    except ValueError as error:
        raise BadAction(field, str(error)) from None
