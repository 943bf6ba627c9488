"""Typed reading of a recipe's table. Whatever is wrong is said with the file and the field."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from ..errors import BuildFailed

Choice = TypeVar("Choice", bound=str)


class Fields:
    def __init__(self, table: Mapping[str, Any], file: str, prefix: str = "") -> None:
        self._table = dict(table)
        self._file = file
        self._prefix = prefix

    def __contains__(self, name: str) -> bool:
        return name in self._table

    def wrong(self, name: str, reason: str) -> BuildFailed:
        place = (self._prefix + name).rstrip(".")
        return BuildFailed(f"{self._file}: {place + ': ' if place else ''}{reason}.")

    def text(self, name: str, default: str | None = None, pattern: re.Pattern[str] | None = None) -> str:
        value = self._table.pop(name, None)
        if value is None:
            if default is None:
                raise self.wrong(name, "is missing")
            return default
        return self._checked(name, value, pattern)

    def texts(self, name: str, pattern: re.Pattern[str] | None = None, at_least: int = 0) -> tuple[str, ...]:
        values = self._table.pop(name, [])
        if not isinstance(values, list) or len(values) < at_least:
            raise self.wrong(name, "must be a list of texts" + (", not empty" if at_least else ""))
        return tuple(self._checked(name, value, pattern) for value in values)

    def number(self, name: str, default: int, least: int, most: int) -> int:
        value = self._table.pop(name, None)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise self.wrong(name, f"must be a whole number from {least} to {most}")
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self._table.pop(name, default)
        if not isinstance(value, bool):
            raise self.wrong(name, "must be true or false")
        return value

    def choice(self, name: str, choices: Sequence[Choice], default: Choice | None) -> Choice:
        value = self._table.pop(name, default or choices[0])
        for choice in choices:
            if value == choice:
                return choice
        raise self.wrong(name, f"must be one of {', '.join(choices)}")

    def variables(self, name: str, pattern: re.Pattern[str]) -> dict[str, str]:
        table = self.table(name)
        if table is None:
            return {}
        for key in table._table:
            if not pattern.fullmatch(key):
                raise self.wrong(name, f"“{key}” cannot be the name of a variable")
        return {key: table.text(key) for key in list(table._table)}

    def table(self, name: str) -> "Fields | None":
        value = self._table.pop(name, None)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.wrong(name, "must be a table")
        return Fields(value, self._file, f"{self._prefix}{name}.")

    def tables(self, name: str) -> "list[Fields]":
        values = self._table.pop(name, [])
        if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
            raise self.wrong(name, f"must be written as [[{name}]] tables")
        return [Fields(value, self._file, f"{self._prefix}{name}[{index}].") for index, value in enumerate(values)]

    def nothing_else(self) -> None:
        """Raises BuildFailed for a field that nobody asked for: most often a misspelt one."""
        for name in self._table:
            raise self.wrong(name, "is not a field of a recipe")

    def _checked(self, name: str, value: object, pattern: re.Pattern[str] | None) -> str:
        if not isinstance(value, str) or not value or "\0" in value:
            raise self.wrong(name, "must be text, not empty")
        if pattern and not pattern.fullmatch(value):
            raise self.wrong(name, f"“{value}” is not allowed here")
        return value
