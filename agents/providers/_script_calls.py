"""What a step of a script does: calls in a short form, and places on the screen that are named by their text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandboxes.display.screen import MAX_SIDE, Box

from .. import ocr
from ..coords import Frame
from ..errors import BadCall, BadTask
from ..tools.computer import ACTIONS, LOOKS, TOOLSET, action_of
from ..tools.registry import all_tools, tool

SHORT = {
    "bash": "command",
    "check": "name",
    "deliver": "path",
    "done": "summary",
    "hold_key": "text",
    "key": "text",
    "left_click_drag": "coordinate",
    "machine": "verb",
    "request_human": "question",
    "scroll": "scroll_direction",
    "type": "text",
    "wait": "duration",
    "zoom": "region",
}
"""The field that a plain value stands for; with other actions on the desktop it is the coordinate."""

PLACES = ("coordinate", "start_coordinate", "region")
ZOOMED = (480, 300)
LARGEST = Frame((MAX_SIDE, MAX_SIDE), (MAX_SIDE, MAX_SIDE))


@dataclass(frozen=True)
class Target:
    """The `nth` place of a text on the screen: its middle moved by `offset`, or a region of `size` around that."""

    on: str
    nth: int = 1
    offset: tuple[int, int] = (0, 0)
    size: tuple[int, int] = ZOOMED

    def seen(self, lines: Sequence[ocr.Line]) -> Box | None:
        places = ocr.find(lines, self.on)
        return places[self.nth - 1].box if len(places) >= self.nth else None

    def point(self, box: Box, screen: tuple[int, int]) -> list[int]:
        middle = (box.x + box.width // 2 + self.offset[0], box.y + box.height // 2 + self.offset[1])
        return [min(max(0, place), side - 1) for place, side in zip(middle, screen, strict=True)]

    def region(self, box: Box, screen: tuple[int, int]) -> list[int]:
        width, height = (min(size, side) for size, side in zip(self.size, screen, strict=True))
        x, y = self.point(box, screen)
        left = min(max(0, x - width // 2), screen[0] - width)
        top = min(max(0, y - height // 2), screen[1] - height)
        return [left, top, left + width, top + height]


@dataclass(frozen=True)
class Doing:
    """A call of a script. Values of `given` that are a Target wait for a picture."""

    name: str
    given: Mapping[str, Any]
    toolset: str = ""

    @property
    def targets(self) -> list[Target]:
        return [value for value in self.given.values() if isinstance(value, Target)]

    def input(self, lines: Sequence[ocr.Line] = (), screen: tuple[int, int] = (0, 0)) -> dict[str, Any]:
        """As the model would give it. Every target must be seen among the lines."""
        return {field: _placed(field, value, lines, screen) for field, value in self.given.items()}


def parse_doing(value: Any) -> Doing:
    """From `{left_click = "Press me"}` and the like. Raises BadTask, which names the field."""
    if not isinstance(value, Mapping) or len(value) != 1:
        raise BadTask('must be one call such as {left_click = "OK"} or {bash = "ls"}.')
    name, given = next(iter(value.items()))
    on_desktop = name in LOOKS or name in ACTIONS
    if not on_desktop and name not in all_tools():
        known = ", ".join((*LOOKS, *ACTIONS, *all_tools()))
        raise BadTask(f"“{name}” is no call; there are {known}.")
    try:
        fields = _fields(name, given)
        doing = Doing(name, fields, TOOLSET) if on_desktop else Doing(name, fields)
        _check(doing)
    except (BadCall, BadTask) as error:
        raise BadTask(f"{name}: {error}") from None
    return doing


def _fields(name: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        given = {SHORT.get(name, "coordinate"): given}
    elif "on" in given:
        known = ("on", "nth", "offset", "size")
        target = {field: value for field, value in given.items() if field in known}
        rest = {field: value for field, value in given.items() if field not in known}
        given = {"region" if name == "zoom" else "coordinate": target, **rest}
    return {field: _target(field, value) if field in PLACES else value for field, value in given.items()}


def _target(field: str, value: Any) -> Any:
    if isinstance(value, str):
        value = {"on": value}
    if not isinstance(value, Mapping):
        return value
    for name, inner in value.items():
        if name not in TARGET_RULES:
            raise BadTask(f"{field}: “{name}” is not known here; there are {', '.join(TARGET_RULES)}.")
        rule, words = TARGET_RULES[name]
        if not rule(inner):
            raise BadTask(f"{field}: {name}: must be {words}.")
    if "on" not in value:
        raise BadTask(f"{field}: on: is needed, the text to find.")
    fields: dict[str, Any] = {name: tuple(inner) if isinstance(inner, list) else inner for name, inner in value.items()}
    return Target(**fields)


def _pair(value: Any, least: int) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(type(one) is int and one >= least for one in value)


TARGET_RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "on": (lambda value: isinstance(value, str) and bool(value.strip()), "text that can be seen"),
    "nth": (lambda value: type(value) is int and value >= 1, "a whole number, 1 or more"),
    "offset": (lambda value: _pair(value, -MAX_SIDE), "two whole numbers, such as [0, 24]"),
    "size": (lambda value: _pair(value, 1), "width and height, such as [480, 300]"),
}


def _check(doing: Doing) -> None:
    """As the tool itself will, with some place for each that is not known yet. Raises BadCall."""
    given = doing.input() if not doing.targets else _anywhere(doing)
    if not doing.toolset:
        tool(doing.name).check(given)
    elif doing.name in ACTIONS:
        action_of(doing.name, given, LARGEST)
    elif doing.name == "zoom":
        region = given.get("region")
        if given.keys() != {"region"} or not isinstance(region, list) or len(region) != 4:
            raise BadCall("region: must be [left, top, right, bottom], or a text.")
        LARGEST.box_to_pixels(*region)
    elif given:
        raise BadCall(f"{next(iter(given))}: {doing.name} has no such field; it has none.")


def _anywhere(doing: Doing) -> dict[str, Any]:
    somewhere = {"region": [0, 0, *ZOOMED]}
    return {
        field: somewhere.get(field, [0, 0]) if isinstance(value, Target) else value
        for field, value in doing.given.items()
    }


def _placed(field: str, value: Any, lines: Sequence[ocr.Line], screen: tuple[int, int]) -> Any:
    if not isinstance(value, Target):
        return value
    box = value.seen(lines)
    if box is None:
        raise ValueError(f"“{value.on}” is not among the lines.")
    return value.region(box, screen) if field == "region" else value.point(box, screen)
