"""Which branch is the best: by its checks, then by a judge, then by what it cost, then by its steps."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any


@dataclass(frozen=True)
class Candidate:
    """How a branch ended. `score` is what a judge gave it, from 0 to 1; None when none was asked or it gave none.

    `passed` and `checks` count checks; `cost` is in dollars and `steps` are actions, of the whole path.
    """

    branch: str
    finished: bool
    passed: int
    checks: int
    cost: float
    steps: int
    score: float | None = None
    said: str = ""

    @property
    def whole(self) -> bool:
        """It said that it is done, and every check bears it out."""
        return self.finished and self.checks > 0 and self.passed == self.checks

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"whole": self.whole}


@dataclass(frozen=True)
class Choice:
    """`order` is best first; `reasons` say why the first is not the second, the second not the third."""

    order: tuple[Candidate, ...]
    reasons: tuple[str, ...]

    @property
    def winner(self) -> Candidate:
        return self.order[0]


def choose(candidates: Sequence[Candidate]) -> Choice:
    """Raises ValueError when there is nobody to choose from. Ties go to whoever was named first."""
    if not candidates:
        raise ValueError("There is no branch to choose from.")
    order = tuple(sorted(candidates, key=_rank))
    return Choice(order, tuple(_why(better, worse) for better, worse in pairwise(order)))


def needs_a_judge(candidates: Sequence[Candidate]) -> bool:
    """When the checks alone do not say which is best."""
    best = min(_by_checks(one) for one in candidates)
    return sum(_by_checks(one) == best for one in candidates) > 1


def equals(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Those that the checks find best."""
    best = min(_by_checks(one) for one in candidates)
    return [one for one in candidates if _by_checks(one) == best]


def _by_checks(one: Candidate) -> tuple[bool, float, bool]:
    return not one.whole, -one.passed / one.checks if one.checks else 0.0, not one.finished


def _rank(one: Candidate) -> tuple[Any, ...]:
    return *_by_checks(one), -(one.score or 0.0), one.cost, one.steps


def _why(better: Candidate, worse: Candidate) -> str:
    left, right = f"{better.branch} before {worse.branch}", ""
    if _by_checks(better) != _by_checks(worse):
        right = f"{_checked(better)}, against {_checked(worse)}"
    elif (better.score or 0.0) != (worse.score or 0.0):
        right = f"the judge gave it {better.score or 0:.2f}, against {worse.score or 0:.2f}"
    elif better.cost != worse.cost:
        right = f"it cost ${better.cost:.2f}, against ${worse.cost:.2f}"
    elif better.steps != worse.steps:
        right = f"it took {better.steps} steps, against {worse.steps}"
    else:
        right = "it came first, and nothing else tells them apart"
    return f"{left}: {right}."


def _checked(one: Candidate) -> str:
    if not one.checks:
        return "it says it is done" if one.finished else "it did not finish"
    claim = "" if one.finished else " without saying it is done"
    return f"{one.passed} of {one.checks} checks passed{claim}"
