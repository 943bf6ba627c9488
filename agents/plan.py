"""What a task wants of branches: when its machine is saved, and what happens when a way leads nowhere."""

from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Protocol

from .errors import BadTask

Stop = Literal["first", "all"]
MOST = {"every": 1000, "recover": 10, "patience": 100, "search": 8, "budget": 200}
SWITCHES = ("verified", "risky", "uncertain", "judge", "approve")


class Planned(Protocol):
    """A run: its own wishes come before those of its task."""

    task: Any
    plan: Any


@dataclass(frozen=True)
class Plan:
    """The machine is saved after `every` so many steps (0: never), where checks have `verified` a step, and before
    `risky` ones, which no fork undoes.

    `recover`: how often a branch whose checks failed is begun again from its last good point, told what went wrong.
    `patience`: a branch ends after so many steps in a row whose checks failed (0: it may go on).
    `uncertain`: a branch ends at a step of which nobody knows whether it happened, so that it can be begun again.
    `search`: so many branches are kept going, each new one from the most promising point of all (0: no search).
    `stop`: whether the `first` branch that passes all checks ends the others. `judge` asks the model where checks do
    not decide. `approve`: what no fork undoes waits for a person's word. `budget` is how many branches a run may have.
    """

    every: int = 0
    verified: bool = False
    risky: bool = False
    recover: int = 0
    patience: int = 0
    uncertain: bool = False
    search: int = 0
    stop: Stop = "first"
    judge: bool = True
    approve: bool = False
    budget: int = 16

    def __post_init__(self) -> None:
        for name, most in MOST.items():
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
                raise BadTask(f"plan: {name} must be a whole number from 0 to {most}, and was {value!r}.")
        for name in SWITCHES:
            if not isinstance(getattr(self, name), bool):
                raise BadTask(f"plan: {name} must be true or false.")
        if self.stop not in ("first", "all"):
            raise BadTask("plan: stop must be “first” or “all”.")

    @classmethod
    def of(cls, run: Planned) -> "Plan":
        return cls.from_json({**run.task.plan, **run.plan})

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "Plan":
        """Raises BadTask, which names what is unknown."""
        known = [field.name for field in fields(cls)]
        for name in values:
            if name not in known:
                raise BadTask(f"plan: “{name}” is none; there are {', '.join(known)}.")
        return cls(**values)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)
