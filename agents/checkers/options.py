"""What an option of a check may be, told by its type, and how what somebody wrote in TOML or JSON becomes it."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from types import NoneType, UnionType
from typing import Annotated, Any, Protocol, Union, get_args, get_origin

from sandboxes.display.screen import Box

from ..errors import BadTask

MAX_TEXT = 10_000
MAX_ITEMS = 10_000
MAX_DEPTH = 20
MAX_PATTERN = 1_000
MAX_PATH = 4_096

_WORDS: dict[type, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


class Rule(Protocol):
    def check(self, name: str, value: Any) -> None:
        """Raises BadTask."""


@dataclass(frozen=True)
class Between:
    least: float
    most: float

    def check(self, name: str, value: float) -> None:
        if not self.least <= value <= self.most:
            raise BadTask(f"{name}: must be from {self.least:g} to {self.most:g}.")


@dataclass(frozen=True)
class Length:
    least: int
    most: int

    def check(self, name: str, value: str) -> None:
        if "\0" in value:
            raise BadTask(f"{name}: must have no NUL character in it.")
        if not self.least <= len(value) <= self.most:
            raise BadTask(f"{name}: must be text of {self.least} to {self.most} characters.")


class IsPattern:
    def check(self, name: str, value: str) -> None:
        try:
            re.compile(value)
        except (re.error, OverflowError, RecursionError) as error:
            raise BadTask(f"{name}: is no regular expression ({error}).") from None


class IsReferenceName:
    def check(self, name: str, value: str) -> None:
        if not re.fullmatch(r"[a-z0-9][a-z0-9_-]{0,63}", value):
            raise BadTask(f"{name}: must be 1 to 64 small letters, digits, “-” or “_”, and was “{value[:64]}”.")


class IsEncoding:
    def check(self, name: str, value: str) -> None:
        try:
            "".encode(value)
        except (LookupError, ValueError):
            raise BadTask(f"{name}: there is no text encoding “{value[:40]}”.") from None


class IsCellName:
    def check(self, name: str, value: str) -> None:
        if not re.fullmatch(r"(.{1,40}!)?[A-Z]{1,3}[1-9][0-9]{0,6}", value):
            raise BadTask(f"{name}: must be a cell such as B2 or Sheet1!B2.")


FilePath = Annotated[str, Length(1, MAX_PATH)]
Pattern = Annotated[str, Length(0, MAX_PATTERN), IsPattern()]
Encoding = Annotated[str, Length(1, 40), IsEncoding()]
CellName = Annotated[str, IsCellName()]
ReferenceName = Annotated[str, IsReferenceName()]
Seconds = Annotated[float, Between(0.1, 300)]
Count = Annotated[int, Between(0, 1 << 40)]
Ratio = Annotated[float, Between(0, 1)]
Value = object
"""Anything that JSON can say. A date or time of TOML becomes its ISO text."""


def fitted(name: str, hint: Any, value: Any) -> Any:
    """The value as its type wants it. Raises BadTask, which names the field."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        value = fitted(name, inner[0], value)
        for rule in inner[1:]:
            rule.check(name, value)
        return value
    if origin in (Union, UnionType):
        return None if value is None else fitted(name, next(one for one in inner if one is not NoneType), value)
    if origin is tuple:
        return tuple(fitted(f"{name}[{index}]", inner[0], item) for index, item in enumerate(_items(name, value)))
    if origin is Mapping:
        return {
            fitted(f"{name}.{key[:40]}", inner[0], key): fitted(f"{name}.{key[:40]}", inner[1], item)
            for key, item in _table(name, value).items()
        }
    if hint is Box:
        return _box(name, value)
    return _value(name, value) if hint is Value else _simple(name, hint, value)


def plain(value: Any) -> Any:
    """As JSON writes it; what is JSON already stays."""
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return {key: plain(item) for key, item in value.items()} if isinstance(value, Mapping) else value


def _simple(name: str, hint: Any, value: Any) -> Any:
    if hint is float and type(value) is int and abs(value) < 1 << 53:
        value = float(value)
    if type(value) is not hint or (hint is float and not math.isfinite(value)):
        raise BadTask(f"{name}: must be {_WORDS[hint]}.")
    if hint is str:
        Length(0, MAX_TEXT).check(name, value)
    return value


def _items(name: str, value: Any) -> list[Any] | tuple[Any, ...]:
    if not isinstance(value, list | tuple) or len(value) > MAX_ITEMS:
        raise BadTask(f"{name}: must be a list of at most {MAX_ITEMS} items.")
    return value


def _table(name: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping) or len(value) > MAX_ITEMS or not all(type(key) is str for key in value):
        raise BadTask(f"{name}: must be a table of at most {MAX_ITEMS} entries.")
    return value


def _box(name: str, value: Any) -> Box:
    numbers = _items(name, value)
    if len(numbers) != 4 or not all(type(number) is int and 0 <= number <= 0xFFFF for number in numbers):
        raise BadTask(f"{name}: must be x, y, width and height in pixels, such as [0, 0, 640, 400].")
    box = Box(*numbers)
    if not box.area:
        raise BadTask(f"{name}: is empty.")
    return box


def _value(name: str, value: Any, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise BadTask(f"{name}: is nested too deeply.")
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [_value(f"{name}[{index}]", item, depth + 1) for index, item in enumerate(_items(name, value))]
    if isinstance(value, Mapping):
        return {key: _value(f"{name}.{key[:40]}", item, depth + 1) for key, item in _table(name, value).items()}
    if value is None or isinstance(value, bool | int):
        return value
    return _simple(name, float if isinstance(value, float) else str, value)
