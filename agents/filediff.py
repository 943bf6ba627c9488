"""What differs between two sets of files. Their names and bytes are hostile: nothing but text is made of them."""

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

LARGEST = 256 << 10
MOST_LINES = 4_000
MOST_SHOWN = 600
LONGEST = 400

Kind = Literal["only a", "only b", "changed"]


@dataclass(frozen=True)
class Found:
    """A file as it was found. Forks of one machine share times, so two with the same size and time are the same."""

    path: str
    size: int
    modified: float = 0.0
    sha256: str = ""


@dataclass(frozen=True)
class Difference:
    path: str
    a: Found | None
    b: Found | None

    @property
    def kind(self) -> Kind:
        return "only b" if self.a is None else "only a" if self.b is None else "changed"

    @property
    def grown(self) -> int:
        """By how many bytes B is larger."""
        return (self.b.size if self.b else 0) - (self.a.size if self.a else 0)

    @property
    def hidden(self) -> bool:
        """In a folder of settings and caches, which programs write to by themselves."""
        return any(part.startswith(".") for part in self.path.split("/"))


@dataclass(frozen=True)
class Line:
    """`kind` is + for a line of B alone, - for one of A alone, a space for both, and @ between stretches."""

    kind: str
    text: str


@dataclass(frozen=True)
class TextDifference:
    lines: list[Line]
    cut: bool


def differences(a: Mapping[str, Found], b: Mapping[str, Found]) -> list[Difference]:
    """By path."""
    found = (Difference(path, a.get(path), b.get(path)) for path in sorted({*a, *b}))
    return [each for each in found if not (each.a and each.b and same(each.a, each.b))]


def same(a: Found, b: Found) -> bool:
    if a.sha256 and b.sha256:
        return a.sha256 == b.sha256
    return (a.size, a.modified) == (b.size, b.modified)


def text_difference(a: bytes, b: bytes) -> TextDifference | None:
    """None unless both are text and small."""
    before, after = _lines(a), _lines(b)
    if before is None or after is None:
        return None
    # The first two lines would name the files, which the caller does better.
    told = list(difflib.unified_diff(before, after, lineterm="", n=3))[2:]
    return TextDifference([Line(line[0], line[1:][:LONGEST]) for line in told[:MOST_SHOWN]], len(told) > MOST_SHOWN)


def _lines(data: bytes) -> list[str] | None:
    if len(data) > LARGEST or b"\0" in data:
        return None
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError:
        return None
    return lines if len(lines) <= MOST_LINES else None
