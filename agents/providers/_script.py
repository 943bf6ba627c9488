"""A script as it was written, checked as a whole: steps in order, labels to jump to."""

import math
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..errors import BadTask
from ..turns import Usage
from ._script_calls import Doing, parse_doing

SHIPPED = Path(__file__).parents[1] / "scripts"
END = "end"
MOST_STEPS = 1000
MOST_TRIES = 1000
MOST_SECONDS = 300

TESTS = ("if_text", "if_said", "if_result", "if_failed")
SPOKEN = ("say", "think", "do", "obey_screen", "usage", "cost", "latency", "goto")


@dataclass(frozen=True)
class Step:
    """`test` is the key and the text of a question; such a step makes no reply, and jumps.

    `then`, `otherwise` and `goto` are numbers of steps, counted from 0; None is the step that follows.
    """

    label: str = ""
    wait_for: str = ""
    tries: int = 20
    every: float = 1.0
    say: str = ""
    think: str = ""
    do: tuple[Doing, ...] = ()
    obey_screen: bool = False
    test: tuple[str, str] | None = None
    then: int | None = None
    otherwise: int | None = None
    goto: int | None = None
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    latency: float | None = None

    @property
    def speaks(self) -> bool:
        return bool(self.say or self.think or self.do)

    @property
    def looks(self) -> bool:
        """Whether it needs a picture of the screen as it is."""
        sees = self.wait_for or self.obey_screen or (self.test and self.test[0] == "if_text")
        return bool(sees or any(doing.targets for doing in self.do))


FIELDS = {one.name for one in fields(Step)}


@dataclass(frozen=True)
class Script:
    title: str
    steps: tuple[Step, ...]


def load(source: str | Path) -> Script:
    """The script of a file, of a shipped name, or the text itself. Raises BadTask, which names the step and the key."""
    if isinstance(source, Path):
        return parse(_content(source), source.stem)
    if "\n" in source or "[[" in source:
        return parse(source, "script")
    if source not in shipped():
        raise BadTask(f"There is no script “{source[:60]}”; there are {', '.join(shipped())}, or write one.")
    return parse(_content(SHIPPED / f"{source}.toml"), source)


def shipped() -> list[str]:
    return sorted(path.stem for path in SHIPPED.glob("*.toml"))


@lru_cache(maxsize=32)
def parse(text: str, name: str) -> Script:
    try:
        document = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadTask(f"The script is not proper TOML: {error}") from None
    if strange := sorted(document.keys() - {"title", "step"}):
        raise BadTask(f"{strange[0]}: a script has a title and [[step]] tables, nothing else.")
    title = document.get("title", name)
    if not isinstance(title, str) or not title.strip():
        raise BadTask("title: must be text.")
    tables = document.get("step", [])
    if not isinstance(tables, list) or not 1 <= len(tables) <= MOST_STEPS:
        raise BadTask(f"step: must be 1 to {MOST_STEPS} [[step]] tables.")
    return Script(title, parse_steps(tables))


def parse_steps(tables: Sequence[Any]) -> tuple[Step, ...]:
    """Raises BadTask, which names the step and the key."""
    labels, steps = _labels(tables), []
    for number, table in enumerate(tables, 1):
        try:
            steps.append(_step(table, labels))
        except BadTask as error:
            raise BadTask(f"Step {number}: {error}") from None
    return tuple(steps)


def _content(path: Path) -> str:
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadTask(f"The script {path.name} cannot be read: {error}") from None


def _labels(tables: Sequence[Any]) -> dict[str, int]:
    labels = {END: len(tables)}
    for number, table in enumerate(tables):
        label = table.get("label") if isinstance(table, Mapping) else None
        if label is None:
            continue
        if not isinstance(label, str) or not re.fullmatch(r"[a-z0-9_-]{1,60}", label):
            raise BadTask(f"Step {number + 1}: label: must be small letters, digits, “-” or “_”.")
        if label in labels:
            raise BadTask(f"Step {number + 1}: label: “{label}” is taken already.")
        labels[label] = number
    return labels


def _step(table: Any, labels: Mapping[str, int]) -> Step:
    if not isinstance(table, Mapping):
        raise BadTask("must be a table.")
    for key, value in table.items():
        if key not in RULES:
            raise BadTask(f"{key}: is not known; there are {', '.join(RULES)}.")
        rule, words = RULES[key]
        if not rule(value):
            raise BadTask(f"{key}: must be {words}.")
    values = {key: value for key, value in table.items() if key in FIELDS}
    values |= {"do": _doings(table.get("do", ())), "usage": Usage(**table.get("usage", {}))}
    jumps = {"then": "then", "else": "otherwise", "goto": "goto"}
    values |= {name: _jump(key, table[key], labels) for key, name in jumps.items() if key in table}
    tests = [(key, str(table[key])) for key in TESTS if key in table]
    step = Step(**values, test=tests[0] if tests else None)
    _check_together(table, step, [key for key, _ in tests])
    return step


def _doings(values: Iterable[Any]) -> tuple[Doing, ...]:
    doings = []
    for number, value in enumerate(values, 1):
        try:
            doings.append(parse_doing(value))
        except BadTask as error:
            raise BadTask(f"do: call {number}: {error}") from None
    return tuple(doings)


def _jump(key: str, label: str, labels: Mapping[str, int]) -> int:
    if label not in labels:
        raise BadTask(f"{key}: there is no label “{label[:60]}”.")
    return labels[label]


def _check_together(table: Mapping[str, Any], step: Step, tests: Sequence[str]) -> None:
    """What each key is in need of, and what it cannot be with."""
    if not table.keys() - {"label"}:
        raise BadTask("does nothing: say, do, wait_for, goto or a question is needed.")
    if len(tests) > 1:
        raise BadTask(f"{tests[1]}: is a second question; a step can have one.")
    if tests and (wrong := [key for key in SPOKEN if key in table]):
        raise BadTask(f"{wrong[0]}: cannot be with {tests[0]}, which only jumps; put it into a step of its own.")
    if tests and not table.keys() & {"then", "else"}:
        raise BadTask(f"{tests[0]}: needs then, else or both.")
    if step.obey_screen and step.speaks:
        raise BadTask("obey_screen: makes its own reply; say, think and do cannot be with it.")
    waits = bool(step.wait_for or any(doing.targets for doing in step.do))
    for key, allowed in {"then": bool(tests), "else": bool(tests) or waits, "tries": waits, "every": waits}.items():
        if key in table and not allowed:
            needs = "an if_ key" if key == "then" else "something to wait for: wait_for, or a text to click on"
            raise BadTask(f"{key}: needs {needs}.")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Any, most: float) -> bool:
    return type(value) in (int, float) and math.isfinite(value) and 0 <= value <= most


def _is_usage(value: Any) -> bool:
    return (
        isinstance(value, Mapping)
        and value.keys() <= {one.name for one in fields(Usage)}
        and all(type(count) is int and count >= 0 for count in value.values())
    )


_TEXT = (_is_text, "text")
_LABEL = (_is_text, "a label, or “end”")
_SECONDS = (lambda value: _is_number(value, MOST_SECONDS), f"seconds, from 0 to {MOST_SECONDS}")
RULES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "label": _TEXT,
    "wait_for": _TEXT,
    "tries": (lambda value: type(value) is int and 1 <= value <= MOST_TRIES, f"from 1 to {MOST_TRIES}"),
    "every": _SECONDS,
    "think": _TEXT,
    "say": _TEXT,
    "do": (lambda value: isinstance(value, list | tuple) and bool(value), "a list of calls"),
    "obey_screen": (lambda value: value is True, "true"),
    "if_text": _TEXT,
    "if_said": _TEXT,
    "if_result": _TEXT,
    "if_failed": (lambda value: value is True, "true"),
    "then": _LABEL,
    "else": _LABEL,
    "goto": _LABEL,
    "usage": (_is_usage, "whole numbers for input, output, cache_read and cache_write"),
    "cost": (lambda value: _is_number(value, 1e9), "dollars, 0 or more"),
    "latency": _SECONDS,
}
