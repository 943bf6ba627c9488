"""Secrets that an agent types by name. Its model says `{{password}}`, and never needs to know the value."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from .errors import BadTask

NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,39}")
WRITTEN = re.compile(r"\{\{([A-Za-z][A-Za-z0-9_-]{0,39})\}\}")
MOST = 20
SHORTEST = 6
LONGEST = 4096


class Secrets:
    def __init__(self, values: Mapping[str, str] | None = None) -> None:
        self.values = dict(values or {})

    def __bool__(self) -> bool:
        return bool(self.values)

    def __repr__(self) -> str:
        return f"Secrets({', '.join(self.values)})"

    def fill(self, value: Any, written: Callable[[str], str] = str) -> Any:
        """A copy of a text or of JSON with values in the place of names; `written` says how, such as quoted."""
        if isinstance(value, str):
            return WRITTEN.sub(lambda found: self._value(found, written), value)
        if isinstance(value, Mapping):
            return {key: self.fill(inner, written) for key, inner in value.items()}
        if isinstance(value, list | tuple):
            return [self.fill(inner, written) for inner in value]
        return value

    def _value(self, found: re.Match[str], written: Callable[[str], str]) -> str:
        value = self.values.get(found[1])
        return found[0] if value is None else written(value)


def checked(values: Mapping[str, str]) -> Secrets:
    """Raises BadTask, which names what is wrong, and no value."""
    if len(values) > MOST:
        raise BadTask(f"secrets: must be at most {MOST}.")
    for name, value in values.items():
        if not NAME.fullmatch(name):
            raise BadTask("secrets: a name is a letter, and then up to 39 letters, figures, - and _.")
        if not isinstance(value, str) or not SHORTEST <= len(value.strip()) <= LONGEST:
            long_enough = f"{SHORTEST} to {LONGEST} characters; a shorter one would hide ordinary words"
            raise BadTask(f"secrets: {name} must have {long_enough}.")
    return Secrets({name: value.strip() for name, value in values.items()})
