"""A check is an assertion on the machine: what it wants, and what it found.

A checker is one file in this folder with one subclass of Checker, named after its kind; its fields are its options.

passed      it was looked at, and is as expected
failed      it was looked at, and is not
errored     it could not be looked at: no word about whether it is as expected
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields
from enum import StrEnum
from functools import cache
from typing import Any, ClassVar, Self, get_type_hints

from sandboxes.display.screen import Box
from sandboxes.errors import SandboxError
from traces.errors import Fenced

from ..endings import Ending
from ..errors import AgentError, BadTask
from .options import fitted, plain
from .scene import Scene

SHOWN = 300


class CannotCheck(AgentError):
    """The check itself could not be done. The sentence says why."""


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"


@dataclass(frozen=True)
class Finding:
    """`similarity` is from 0 to 1. `region` is where on the screen it was, or was best."""

    outcome: Outcome
    expected: str
    actual: str
    region: Box | None = None
    similarity: float | None = None
    detail: str = ""

    def to_json(self) -> dict[str, Any]:
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}


@dataclass(frozen=True)
class Checker(ABC):
    """Making one with options that make no sense raises BadTask, which names the field."""

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        for name, hint in option_types(type(self)).items():
            object.__setattr__(self, name, fitted(name, hint, getattr(self, name)))
        self.validate()

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Self:
        """Raises BadTask for an option that is missing. Those that do not exist are the caller's to find."""
        if missing := [field.name for field in fields(cls) if is_needed(field) and field.name not in options]:
            raise BadTask(f"{missing[0]}: {cls.kind} needs it.")
        return cls(**options)

    def options(self) -> dict[str, Any]:
        """As JSON, without those that were left as they are."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        defaults = {field.name: field.default for field in fields(self)}
        return {name: plain(value) for name, value in given.items() if value != defaults[name]}

    def check(self, scene: Scene) -> Finding:
        """Whatever stands in the way of an answer is a finding too. Raises Ending and Fenced, as a judge may."""
        try:
            return self.look(scene)
        except (Ending, Fenced):
            raise
        except (AgentError, SandboxError) as error:
            problem = str(error)
        except OSError as error:
            problem = f"{error.strerror or type(error).__name__}: {error.filename or error}"
        except Exception as error:
            problem = f"The check {self.kind} is broken ({type(error).__name__}: {error})."
        return Finding(Outcome.ERRORED, self.expectation(), "It could not be checked.", detail=shown(problem, 1000))

    def validate(self) -> None:
        """Raises BadTask for options that do not go together. Their types have been looked at."""
        return

    @abstractmethod
    def expectation(self) -> str:
        """What has to be so, in a few words."""

    @abstractmethod
    def look(self, scene: Scene) -> Finding:
        """Passed or failed. Raises CannotCheck, SandboxError or anything else when there is no answer."""

    def found(self, good: bool, actual: str, **more: Any) -> Finding:
        return Finding(Outcome.PASSED if good else Outcome.FAILED, self.expectation(), actual, **more)


@cache
def option_types(checker: type[Checker]) -> dict[str, Any]:
    hints = get_type_hints(checker, include_extras=True)
    return {field.name: hints[field.name] for field in fields(checker)}


def shown(text: str, limit: int = SHOWN) -> str:
    """Text of a machine or a model, in a form in which it can neither break a line nor flood one."""
    cut = text if len(text) <= limit else text[:limit] + "…"
    return "".join(character if character.isprintable() else " " for character in cut).strip()


def is_needed(option: Field[Any]) -> bool:
    return option.default is MISSING
