"""What a branch may use up, looked at in one place."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from .endings import LimitReached
from .errors import BadTask


@dataclass(frozen=True)
class Limits:
    """Money is in dollars. A model without a known price costs nothing here, so the other limits must do."""

    steps: int = 200
    minutes: float = 60
    tokens: int = 5_000_000
    money: float = 10.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e12:
                raise BadTask(f"limits: {field.name} must be a number above 0, and was {value!r}.")

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Limits":
        """Raises BadTask, which names what is unknown."""
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                raise BadTask(f"limits: “{name}” is none; there are {', '.join(known)}.")
        return cls(**values)

    def to_json(self) -> dict[str, float]:
        return asdict(self)


@dataclass(frozen=True)
class Spent:
    steps: int = 0
    minutes: float = 0
    tokens: int = 0
    money: float = 0


def shared(whole: Limits, path: Spent, total: Spent, heads: int) -> dict[str, float]:
    """For one of several branches that go on: of tokens and money, its share of what the run has left."""
    return {
        "tokens": max(1, int(path.tokens + max(0, whole.tokens - total.tokens) / heads)),
        "money": max(1e-9, path.money + max(0.0, whole.money - total.money) / heads),
    }


def whole_of(share: Mapping[str, float], path: Spent, total: Spent, heads: int) -> dict[str, float]:
    """What the run may use so that this is a branch's share of it."""
    return {
        name: type(kept)(getattr(total, name) + max(0, kept - getattr(path, name)) * heads)
        for name, kept in share.items()
    }


def check(limits: Limits, spent: Spent) -> None:
    """Raises LimitReached for the first that is used up."""
    for field in fields(limits):
        allowed, used = getattr(limits, field.name), getattr(spent, field.name)
        if used >= allowed:
            raise LimitReached(field.name, allowed, used)
