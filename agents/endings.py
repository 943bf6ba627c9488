"""How a branch stops. Each has a name, and the runner maps each to one state in one place.

Ending
├── Finished       the agent said it is done; `verdict` is None where the task has no checks
├── GaveUp         the model neither acted nor said that it is done
├── LimitReached   steps, minutes, tokens or money are used up
├── Lost           the checks of too many steps in a row failed, or nobody knows whether a step happened
├── Stuck          the same actions again and again, and nothing changes
├── Parked         a person is asked for, or somebody paused it; it goes on from here
│   └── Yielded    a person takes over the machine
├── Cancelled      somebody stopped it
│   └── HandedOn   it has left the task to its branches
└── Broken         the machine or the model's service failed, which is never the agent's failure
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .verify import Verdict


class Ending(Exception):
    """The text may be shown to a person."""


class Finished(Ending):
    def __init__(self, claim: str, verdict: "Verdict | None") -> None:
        super().__init__(claim)
        self.verdict = verdict


class GaveUp(Ending):
    pass


class LimitReached(Ending):
    def __init__(self, name: str, allowed: float, used: float) -> None:
        super().__init__(f"The limit of {allowed:g} {name} is reached.")
        self.name, self.allowed, self.used = name, allowed, used


class Lost(Ending):
    pass


class Stuck(Ending):
    pass


class Parked(Ending):
    """`question` is empty when nobody is asked for."""

    def __init__(self, text: str, question: str = "") -> None:
        super().__init__(text)
        self.question = question


PAUSED = "{} paused it."


class Yielded(Parked):
    pass


class Cancelled(Ending):
    pass


class HandedOn(Cancelled):
    pass


HANDED_ON = "The task goes on in {}."


def handed_on(detail: str) -> bool:
    """Whether a branch ended with these words because others go on from it."""
    return detail.startswith(HANDED_ON.partition("{")[0])


class Broken(Ending):
    pass
