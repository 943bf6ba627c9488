"""Checks explained to whoever writes them: what kinds there are, and what the ones in the form ask for."""

from dataclasses import dataclass, fields

from agents.checkers.base import is_needed
from agents.checkers.registry import kinds
from agents.errors import BadTask
from agents.verify import parse_checks

WHEN = {"done": "when the agent says it is done", "step": "after each step", "demand": "when somebody asks"}


@dataclass(frozen=True)
class Kind:
    name: str
    purpose: str
    needed: tuple[str, ...]
    more: tuple[str, ...]


@dataclass(frozen=True)
class Said:
    """One check in words."""

    name: str
    expects: str
    when: str


def _kinds() -> list[Kind]:
    return [
        Kind(
            name,
            (made.__doc__ or "").strip().partition("\n")[0],
            tuple(option.name for option in fields(made) if is_needed(option)),
            tuple(option.name for option in fields(made) if not is_needed(option)),
        )
        for name, made in kinds().items()
    ]


CHECK_KINDS = _kinds()


def explained(text: str) -> list[Said]:
    """Nothing where there is a mistake: the field says which."""
    try:
        checks = parse_checks(text)
    except BadTask:
        return []
    return [
        Said(check.name, check.checker.expectation(), " and ".join(WHEN.get(moment, moment) for moment in check.when))
        for check in checks
    ]
