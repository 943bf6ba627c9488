"""The lines beside a list of steps: every branch in a column of its own, right below the step where it begins.

A branch stands as a whole block, so that it can be read, and so that a hundred of them need no more columns than one:
only a branch of a branch goes further to the right.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

LANE = 24
ROW = 28
RADIUS = 5
"""Pixels."""

Kind = Literal["line", "dot", "dotted", "curve"]
Part = Literal["whole", "upper", "lower"]


@dataclass(frozen=True)
class Stroke:
    """A curve comes from the top, in the column of the branch that was left, to the middle of the new one's.

    A dotted line stands for steps that are not shown, or leads past other branches to the next that begins there.
    """

    kind: Kind
    from_column: int
    to_column: int
    branch: str
    part: Part = "whole"

    @property
    def x(self) -> int:
        return centre(self.to_column)

    @property
    def path(self) -> str:
        """For the `d` of an SVG path; empty for a dot, which is a circle at `x` in the middle of the row."""
        middle = ROW // 2
        if self.kind == "dot":
            return ""
        if self.kind == "curve":
            start = centre(self.from_column)
            return f"M{start} 0C{start} {middle} {start} {middle} {self.x} {middle}"
        top = middle if self.part == "lower" else 0
        bottom = middle if self.part == "upper" else ROW
        return f"M{self.x} {top}V{bottom}"


Strokes = tuple[Stroke, ...]


@dataclass
class Cell:
    """A row to be. `skips` has no dot. The threads begin right below it, in their order."""

    skips: bool = False
    threads: list["Thread"] = field(default_factory=list)


@dataclass
class Thread:
    branch: str
    cells: list[Cell] = field(default_factory=list)


class Drawn(NamedTuple):
    cell: Cell
    column: int
    strokes: Strokes


def centre(column: int) -> int:
    return column * LANE + LANE // 2


def draw(threads: Sequence[Thread]) -> Iterator[Drawn]:
    """Every cell in the order of its row."""
    for thread in threads:
        blocks = [_block(thread, 0, None, ())]
        while blocks:
            item = next(blocks[-1], None)
            if item is None:
                blocks.pop()
            elif isinstance(item, Drawn):
                yield item
            else:
                blocks.append(item)


_Block = Iterator["Drawn | _Block"]


def _block(thread: Thread, column: int, left: int | None, passing: Strokes) -> _Block:
    """Yields rows, and blocks whose rows come next. `left` is the column that was left for this one, if any."""
    branch = thread.branch
    above = None if left is None else _entry(branch, left, column)
    inner = _entry(branch, column, column)
    plain = (*passing, Stroke("line", column, column, branch), Stroke("dot", column, column, branch))
    for place, cell in enumerate(thread.cells):
        goes_on, begin = place + 1 < len(thread.cells), cell.threads
        straight = not goes_on and len(begin) == 1
        below: Kind | None = "line" if goes_on or straight else "dotted" if begin else None
        is_plain = below == "line" and above and above.kind == "line" and not cell.skips
        yield Drawn(cell, column, plain if is_plain else passing + _own(cell, branch, column, above, below))
        for number, child in enumerate(begin, 1):
            waiting: Kind | None = "line" if goes_on else "dotted" if number < len(begin) else None
            beside = (*passing, Stroke(waiting, column, column, branch)) if waiting else passing
            yield _block(child, column if straight else column + 1, column, beside)
        above = inner


def _entry(branch: str, left: int, column: int) -> Stroke:
    if left == column:
        return Stroke("line", column, column, branch, "upper")
    return Stroke("curve", left, column, branch)


def _own(cell: Cell, branch: str, column: int, above: Stroke | None, below: Kind | None) -> Strokes:
    dots = () if cell.skips else (Stroke("dot", column, column, branch),)
    if cell.skips:
        above = replace(above, kind="dotted") if above and above.kind == "line" else above
        below = below and "dotted"
    if above and above.kind == below:
        return (Stroke(below, column, column, branch), *dots)
    upper = (above,) if above else ()
    lower = (Stroke(below, column, column, branch, "lower"),) if below else ()
    return (*upper, *lower, *dots)
