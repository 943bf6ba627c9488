"""What one can do to a desktop. Coordinates are native pixels of the screen."""

from dataclasses import dataclass
from enum import IntEnum


class Button(IntEnum):
    LEFT = 1
    MIDDLE = 2
    RIGHT = 3


@dataclass(frozen=True)
class Move:
    x: int
    y: int


@dataclass(frozen=True)
class Click:
    x: int
    y: int
    button: Button = Button.LEFT
    count: int = 1


@dataclass(frozen=True)
class Drag:
    x: int
    y: int
    to_x: int
    to_y: int
    button: Button = Button.LEFT


@dataclass(frozen=True)
class Scroll:
    """Positive `down` and `right` are wheel clicks away from the top and the left."""

    x: int
    y: int
    down: int = 0
    right: int = 0


@dataclass(frozen=True)
class Type:
    text: str


@dataclass(frozen=True)
class Key:
    """A chord such as `ctrl+shift+t`, `Return` or `alt+F4`: X keysym names joined by plus signs."""

    chord: str


Action = Move | Click | Drag | Scroll | Type | Key
