"""Where two screens differ, in few boxes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .screen import Box, Screen

TILE = 32
FEW = 12

Bits = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Diff:
    """`ratio` is the share of pixels that differ. The boxes do not overlap and hold every one of them."""

    ratio: float
    boxes: list[Box]


def diff(before: Screen, after: Screen, ignore: Sequence[Box] = ()) -> Diff:
    """Screens of different sizes differ everywhere. Pixels in `ignore` never count."""
    if before.size != after.size:
        return Diff(1.0, [Box(0, 0, *after.size)])
    changed = _changed(before, after, ignore)
    count = int(np.count_nonzero(changed))
    return Diff(count / changed.size, _boxes(changed) if count else [])


def same(before: Screen, after: Screen) -> bool:
    """Whether no pixel differs; much cheaper than `diff`."""
    if before is after or before.size != after.size:
        return before is after
    sample = slice(None, None, 8)
    one, other = _words(before), _words(after)
    return not any(np.any((one[rows] ^ other[rows]) & np.uint32(0xFFFFFF)) for rows in (sample, slice(None)))


def _changed(before: Screen, after: Screen, ignore: Sequence[Box]) -> Bits:
    changed: Bits = ((_words(before) ^ _words(after)) & np.uint32(0xFFFFFF)) != 0
    for box in ignore:
        changed[_within(box)] = False
    return changed


def _words(screen: Screen) -> npt.NDArray[np.uint32]:
    """Red, green and blue are the lower three bytes."""
    return np.ascontiguousarray(screen.rgbx).view("<u4")[..., 0]


def _within(box: Box) -> tuple[slice, slice]:
    x, y = max(box.x, 0), max(box.y, 0)
    return slice(y, max(y, box.y + box.height)), slice(x, max(x, box.x + box.width))


def _boxes(changed: Bits) -> list[Box]:
    """Boxes around groups of touching tiles, with larger tiles until there are few."""
    tile, tiles = TILE, _tiles(changed, TILE)
    while len(boxes := _merged(_grown(group, tile) for group in _groups(tiles))) > FEW:
        tile, tiles = 2 * tile, _tiles(tiles, 2)
    return [_tight(changed, box) for box in boxes]


def _tiles(changed: Bits, tile: int) -> Bits:
    rows = np.logical_or.reduceat(changed, range(0, changed.shape[0], tile), axis=0)
    return np.logical_or.reduceat(rows, range(0, changed.shape[1], tile), axis=1)


def _groups(tiles: Bits) -> Iterable[list[tuple[int, int]]]:
    """Sets of tiles that touch each other, also at corners."""
    left = {(int(row), int(column)) for row, column in zip(*np.nonzero(tiles), strict=True)}
    while left:
        group = [left.pop()]
        for row, column in group:
            near = {(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)} & left
            left -= near
            group += near
        yield group


def _grown(tiles: list[tuple[int, int]], tile: int) -> Box:
    rows, columns = [row for row, _ in tiles], [column for _, column in tiles]
    x, y = min(columns) * tile, min(rows) * tile
    return Box(x, y, (max(columns) + 1) * tile - x, (max(rows) + 1) * tile - y)


def _merged(boxes: Iterable[Box]) -> list[Box]:
    apart: list[Box] = []
    for box in boxes:
        while clash := next((other for other in apart if _overlap(box, other)), None):
            apart.remove(clash)
            box = _around(box, clash)
        apart.append(box)
    return sorted(apart, key=lambda box: (box.y, box.x))


def _overlap(a: Box, b: Box) -> bool:
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


def _around(a: Box, b: Box) -> Box:
    x, y = min(a.x, b.x), min(a.y, b.y)
    return Box(x, y, max(a.x + a.width, b.x + b.width) - x, max(a.y + a.height, b.y + b.height) - y)


def _tight(changed: Bits, box: Box) -> Box:
    part = changed[_within(box)]
    rows, columns = np.flatnonzero(part.any(axis=1)), np.flatnonzero(part.any(axis=0))
    left, top = int(columns[0]), int(rows[0])
    return Box(box.x + left, box.y + top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1)
