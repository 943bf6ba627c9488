"""Finds a text in another that was read off a screen, and may have been misread a little."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from unicodedata import normalize

Span = tuple[int, int]

FORGIVEN = 8
"""One wrong letter in that many."""

NUMBER = re.compile(r"(?<!\w)-?\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)*")
ALIKE = str.maketrans("‐‑‒–—−‘’‚“”„", "------'''\"\"\"")
MISREAD = {("0", "o"), ("1", "l"), ("1", "i"), ("1", "|")}
FORBIDDEN = 1_000_000


@dataclass(frozen=True)
class Place:
    """`errors` are wrong letters; `loose` is 0 for all of a text, 1 for whole words of it, 2 for parts of words."""

    span: Span
    errors: int
    loose: int

    @property
    def doubt(self) -> tuple[int, int]:
        return self.errors, self.loose


@dataclass(frozen=True)
class Signs:
    """A text as it is compared, and where each sign is in it. The only spaces left are those between two figures.

    `fixed` are signs of numbers, where nothing is forgiven; `numbers` are parts of the text.
    """

    signs: str
    places: tuple[int, ...]
    fixed: tuple[bool, ...]
    numbers: tuple[Span, ...]

    @classmethod
    def of(cls, text: str) -> "Signs":
        plain = text.translate(ALIKE)
        pairs = [
            (" " if sign.isspace() else sign, place)
            for place, character in enumerate(plain)
            for sign in normalize("NFKC", character).casefold()
            if not sign.isspace() or _between_figures(text, place)
        ]
        numbers = tuple(match.span() for match in NUMBER.finditer(plain))
        inside = {place for start, end in numbers for place in range(start, end)}
        fixed = tuple(place in inside or sign == " " for sign, place in pairs)
        return cls("".join(sign for sign, _ in pairs), tuple(place for _, place in pairs), fixed, numbers)

    def places_in(self, text: str) -> list[Place]:
        """All that are exact, else the nearest one, else none."""
        if not self.signs:
            return []
        line = Signs.of(text)
        exact = [(0, match.span()) for match in re.finditer(re.escape(self.signs), line.signs)]
        found = line._parts(exact) or line._parts(self._nearly_in(line))[:1]
        return [Place(span, errors, _looseness(text, *span)) for errors, span in found]

    def _parts(self, found: Iterable[tuple[int, Span]]) -> list[tuple[int, Span]]:
        """Matches in the signs as parts of the text, but for those that begin or end within a number."""
        parts = [(errors, (self.places[start], self.places[end - 1] + 1)) for errors, (start, end) in found]
        return [one for one in parts if not any(a < edge < b for a, b in self.numbers for edge in one[1])]

    def _nearly_in(self, line: "Signs") -> list[tuple[int, Span]]:
        """The nearest, if near enough. With so few errors one of some equal pieces must be there as it is."""
        forgiven = len(self.signs) // FORGIVEN
        bounds = [len(self.signs) * piece // (forgiven + 1) for piece in range(forgiven + 2)]
        if not forgiven or not any(self.signs[start:end] in line.signs for start, end in pairwise(bounds)):
            return []
        ends = enumerate(self._distances(line))
        near = sorted((errors, start, end) for end, (errors, start) in ends if errors <= forgiven and start < end)
        return [(errors, (start, end)) for errors, start, end in near]

    def _distances(self, line: "Signs") -> list[tuple[int, int]]:
        """For each end in the line, the fewest errors of a match that ends there, and where it starts."""
        above = [(0, start) for start in range(len(line.signs) + 1)]
        for sign, fixed in zip(self.signs, self.fixed, strict=True):
            missing = FORBIDDEN if fixed else 1
            row = [(above[0][0] + missing, 0)]
            for place, (other, other_fixed) in enumerate(zip(line.signs, line.fixed, strict=True)):
                swapped = _difference(sign, other, fixed or other_fixed)
                row.append(
                    min(
                        (above[place][0] + swapped, above[place][1]),
                        (above[place + 1][0] + missing, above[place + 1][1]),
                        (row[place][0] + (FORBIDDEN if other_fixed else 1), row[place][1]),
                    )
                )
            above = row
        return above


def _between_figures(text: str, place: int) -> bool:
    before, after = text[:place].rstrip(), text[place:].lstrip()
    return before[-1:].isdigit() and after[:1].isdigit() and not text[place - 1].isspace()


def _difference(sign: str, other: str, fixed: bool) -> int:
    if sign == other:
        return 0
    return 1 if not fixed or (sign, other) in MISREAD or (other, sign) in MISREAD else FORBIDDEN


def _looseness(text: str, start: int, end: int) -> int:
    if not (text[:start].strip() or text[end:].strip()):
        return 0
    return 2 if text[start - 1 : start].isalnum() or text[end : end + 1].isalnum() else 1
