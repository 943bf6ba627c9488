"""Verify: the checks of a task, what came of them, and what a model is told about it."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from .checkers.base import Checker, Finding, Outcome, shown
from .checkers.registry import checker
from .checkers.scene import Scene
from .errors import BadTask

MOST = 100
LONGEST_NAME = 100


class Moment(StrEnum):
    """When a check is looked at."""

    STEP = "step"
    DONE = "done"
    DEMAND = "demand"


@dataclass(frozen=True)
class Check:
    """An assertion that a task names. What runs when the agent says it is done decides the verdict."""

    name: str
    checker: Checker
    when: frozenset[Moment] = frozenset({Moment.DONE})

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "kind": self.checker.kind, "when": sorted(self.when)} | self.checker.options()


@dataclass(frozen=True)
class Verdict:
    """`failed` and `errored` are names; an errored check is neither passed nor failed."""

    findings: Mapping[str, Finding]

    @property
    def passed(self) -> bool:
        """Whether there was something to check and all of it is as expected."""
        return bool(self.findings) and not self.failed and not self.errored

    @property
    def failed(self) -> tuple[str, ...]:
        return self._with(Outcome.FAILED)

    @property
    def errored(self) -> tuple[str, ...]:
        return self._with(Outcome.ERRORED)

    def difference(self) -> str:
        """What goes back to the model; empty when everything passed."""
        wrong = [f"- {name}: expected: {one.expected} Actual: {one.actual}" for name, one in self._each(self.failed)]
        unknown = [f"- {name}: {one.detail}" for name, one in self._each(self.errored)]
        parts = [["These checks failed:", *wrong]] if wrong else []
        parts += [["These could not be checked, which is no fault of yours:", *unknown]] if unknown else []
        return "\n".join(line for part in parts for line in part)

    def to_json(self) -> dict[str, Any]:
        return {"passed": self.passed, "findings": {name: one.to_json() for name, one in self.findings.items()}}

    def _with(self, outcome: Outcome) -> tuple[str, ...]:
        return tuple(name for name, finding in self.findings.items() if finding.outcome is outcome)

    def _each(self, names: Iterable[str]) -> Iterable[tuple[str, Finding]]:
        return ((name, self.findings[name]) for name in names)


def verify(checks: Iterable[Check], scene: Scene) -> Verdict:
    """Look at all of them, one after the other. Raises only what ends the branch: see `Checker.check`."""
    return Verdict({check.name: check.checker.check(scene) for check in checks})


def due(checks: Iterable[Check], moment: Moment) -> tuple[Check, ...]:
    return tuple(check for check in checks if moment in check.when)


def parse_checks(source: str | Sequence[Mapping[str, Any]]) -> tuple[Check, ...]:
    """From TOML with `[[check]]` tables, or from such tables. Raises BadTask, which names the check and the field."""
    tables = _tables(source) if isinstance(source, str) else source
    if not isinstance(tables, list | tuple) or len(tables) > MOST:
        raise BadTask(f"check: must be at most {MOST} [[check]] tables.")
    checks = tuple(_placed(number, table) for number, table in enumerate(tables, 1))
    names = [check.name for check in checks]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise BadTask(f"Check {number + 1}: name: “{name}” is the name of another check too.")
    return checks


def parse_check(table: Mapping[str, Any]) -> Check:
    """A model's own check. Raises BadTask, which names the field, also for one that acts as another user."""
    check = _parsed(table)
    if getattr(check.checker, "user", ""):
        raise BadTask("user: only a check of the task itself can act as another user.")
    return check


def to_json(checks: Iterable[Check]) -> list[dict[str, Any]]:
    return [check.to_json() for check in checks]


def from_json(tables: Sequence[Mapping[str, Any]]) -> tuple[Check, ...]:
    """What `to_json` gave. Raises BadTask."""
    return parse_checks(tables)


def _tables(toml: str) -> Any:
    try:
        document = tomllib.loads(toml)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise BadTask(f"The checks are not proper TOML: {error}") from None
    if strange := sorted(document.keys() - {"check"}):
        raise BadTask(f"{strange[0]}: only [[check]] tables can be here.")
    return document.get("check", [])


def _parsed(table: Mapping[str, Any]) -> Check:
    if not isinstance(table, Mapping) or not all(isinstance(key, str) for key in table):
        raise BadTask("A check must be a table with a kind and its options.")
    options = {key: value for key, value in table.items() if key not in ("name", "kind", "when")}
    kind = table.get("kind")
    if kind is None:
        raise BadTask("kind: every check needs one.")
    made = checker(kind, options)
    return Check(_name(table.get("name", kind)), made, _moments(table.get("when", Moment.DONE)))


def _placed(number: int, table: Mapping[str, Any]) -> Check:
    try:
        return _parsed(table)
    except BadTask as error:
        name = table.get("name") if isinstance(table, Mapping) else None
        place = f"Check {number} (“{shown(name, LONGEST_NAME)}”)" if isinstance(name, str) else f"Check {number}"
        raise BadTask(f"{place}: {error}") from None


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or len(value) > LONGEST_NAME or not value.isprintable():
        raise BadTask(f"name: must be a line of 1 to {LONGEST_NAME} characters.")
    return value


def _moments(value: object) -> frozenset[Moment]:
    words = [value] if isinstance(value, str) else value
    try:
        moments = frozenset(Moment(word) for word in words)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        moments = frozenset()
    if not moments:
        raise BadTask(f"when: must be one or more of {', '.join(Moment)}.")
    return moments
