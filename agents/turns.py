"""A conversation as the loop knows it, whatever the vendor. Turns are never edited: a branch is a longer prefix.

Actions on the desktop have one vocabulary, that of the computer toolset in `tools/computer.py`; a provider whose
vendor uses other words translates both ways.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Picture:
    """Bytes as they are sent, already of a size that the provider's model accepts."""

    data: bytes = field(repr=False)
    media_type: str
    width: int
    height: int


Part = str | Picture


@dataclass(frozen=True)
class Call:
    """One thing the model wants done. `toolset` is `computer` for actions on the desktop, else empty.

    `id` is unique in its reply. `input` is as the model gave it, coordinates in the model's own space.
    """

    id: str
    name: str
    input: Mapping[str, Any]
    toolset: str = ""


@dataclass(frozen=True)
class Result:
    """The answer to a call: text first, then at most one picture."""

    call: Call
    text: str
    picture: Picture | None = None
    ok: bool = True


@dataclass(frozen=True)
class Usage:
    """Tokens. `input` does not count what was read from or written to a cache."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )

    @property
    def total(self) -> int:
        return self.input + self.output + self.cache_read + self.cache_write


@dataclass(frozen=True)
class Said:
    """From outside: the goal, a note of a person, a hint to a branch, a word of the system."""

    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Reply:
    """From the model. `raw` is JSON that only the provider of `kind` understands and must send back unchanged.

    `cost` is in dollars; None when the price is not known.
    """

    text: str
    calls: tuple[Call, ...] = ()
    reasoning: str = ""
    usage: Usage = Usage()
    cost: float | None = None
    kind: str = ""
    model: str = ""
    raw: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class Answered:
    """Every call of the reply before it, in the same order."""

    results: tuple[Result, ...]


Turn = Said | Reply | Answered
