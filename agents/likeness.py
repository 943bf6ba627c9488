"""Finds a secret in text that was read off a picture, whatever the reading made of it.

To hide too much costs a few pixels, to hide too little costs the secret: signs that look alike are the same here, and
one sign in four may be wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from .spotting import Span

ALIKE = str.maketrans("0681i|!j529q", "obblllllszgg")
PAIRS = {"rn": "m", "vv": "w"}
FAINT = frozenset(" \t\n\r\f\v.,:;'\"`´‘’“”-–—_~·•*^°")
"""Signs that a reading loses, or finds in dust."""

FORGIVEN = 4
SHORTEST = 6
PART = 0.6
"""Of a secret: that much of its beginning or of its end is hidden too, for the rest may be cut off or misread."""


@dataclass(frozen=True)
class Folded:
    """A text as it is compared; `spans` are the places of its signs in the text."""

    signs: str
    spans: tuple[Span, ...]

    @classmethod
    def of(cls, text: str) -> "Folded":
        whole = [(sign, place) for place, sign in enumerate(text.casefold() if _keeps_length(text) else text.lower())]
        bright = [(sign.translate(ALIKE), (place, place + 1)) for sign, place in whole if sign not in FAINT]
        return cls(*_paired(bright))


def _keeps_length(text: str) -> bool:
    return len(text.casefold()) == len(text)


def _paired(signs: list[tuple[str, Span]]) -> tuple[str, tuple[Span, ...]]:
    found: list[tuple[str, Span]] = []
    for sign, span in signs:
        if found and found[-1][0] + sign in PAIRS:
            before = found.pop()
            found.append((PAIRS[before[0] + sign], (before[1][0], span[1])))
        else:
            found.append((sign, span))
    return "".join(sign for sign, _ in found), tuple(span for _, span in found)


class Likeness:
    """One secret. What is left of fewer than three signs is looked for nowhere."""

    def __init__(self, secret: str) -> None:
        self.signs = Folded.of(secret).signs
        self.forgiven = _forgiven(len(self.signs))
        part = round(len(self.signs) * PART)
        self.parts = part if part >= SHORTEST else 0

    def spans_in(self, text: str) -> list[Span]:
        """Every part of the text that is the secret, or a good part of it."""
        line = Folded.of(text)
        if len(self.signs) < 3:
            return []
        found = list(_places(self.signs, line.signs, self.forgiven))
        if not found and self.parts:
            rest = len(self.signs) - self.parts
            head, tail = self.signs[: self.parts], self.signs[-self.parts :]
            found += [(start, end + rest) for start, end in _places(head, line.signs, _forgiven(self.parts))]
            found += [(start - rest, end) for start, end in _places(tail, line.signs, _forgiven(self.parts))]
        last = len(line.spans)
        return [(line.spans[max(0, start)][0], line.spans[min(end, last) - 1][1]) for start, end in found]


def _forgiven(length: int) -> int:
    return length // FORGIVEN if length >= 2 * FORGIVEN else int(length >= SHORTEST)


def _places(wanted: str, text: str, forgiven: int) -> Iterator[Span]:
    """The nearest places that do not overlap. With so few errors one of some equal pieces must be there as it is."""
    bounds = [len(wanted) * piece // (forgiven + 1) for piece in range(forgiven + 2)]
    if not any(wanted[start:end] in text for start, end in pairwise(bounds)):
        return
    taken: list[Span] = []
    for errors, start, end in sorted(_distances(wanted, text)):
        if errors <= forgiven and start < end and all(end <= one or other <= start for one, other in taken):
            taken.append((start, end))
            yield start, end


def _distances(wanted: str, text: str) -> Iterator[tuple[int, int, int]]:
    """For each end in the text, the fewest errors of a match that ends there, and where it starts."""
    row = [(0, start) for start in range(len(text) + 1)]
    for number, sign in enumerate(wanted, 1):
        above, row = row, [(number, 0)]
        for place, other in enumerate(text):
            same = (above[place][0] + (sign != other), above[place][1])
            left_out, too_much = above[place + 1], row[place]
            row.append(min(same, (left_out[0] + 1, left_out[1]), (too_much[0] + 1, too_much[1])))
    return ((errors, start, end) for end, (errors, start) in enumerate(row))
