"""How like a reference a part of the screen is, and where it is most like it.

Pixels are alike when no colour of them differs by more than TOLERANCE. The similarity is the share of pixels that are
alike, or the share among those that carry detail in either picture, whichever is less: a large empty background must
not hide another text. Detail is what differs from the pixel beside it or below it.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sandboxes.display.diff import Bits
from sandboxes.display.framebuffer import Bytes
from sandboxes.display.screen import Box

TOLERANCE = 24
LEAST_DETAIL = 0.01
"""Of the pixels that count: in a picture of one colour, a text cursor is not all there is."""
CANDIDATES = 4
GOOD_ENOUGH = 0.999

Grey = npt.NDArray[np.float64]


class Match(NamedTuple):
    similarity: float
    x: int
    y: int


class Template:
    """`counts` says which pixels count; at least one does."""

    def __init__(self, pixels: Bytes, counts: Bits) -> None:
        self.pixels, self.counts = pixels, counts
        self.detail = _detail(pixels)

    def similarity(self, pixels: Bytes, detail: Bits) -> float:
        apart = (np.abs(pixels.astype(np.int16) - self.pixels).max(axis=2) > TOLERANCE) & self.counts
        detailed = (detail | self.detail) & self.counts
        total = int(np.count_nonzero(self.counts))
        most = max(int(np.count_nonzero(detailed)), LEAST_DETAIL * total)
        wrong = max(np.count_nonzero(apart) / total, np.count_nonzero(apart & detailed) / most)
        return max(0.0, 1.0 - float(wrong))

    def best(self, pixels: Bytes, home: tuple[int, int]) -> Match:
        """The best place in `pixels` for the template's upper left corner. `home` is tried first, and wins ties."""
        detail = _detail(pixels)
        height, width = self.counts.shape

        def match(x: int, y: int) -> Match:
            part = slice(y, y + height), slice(x, x + width)
            return Match(self.similarity(pixels[part], detail[part]), x, y)

        at_home = match(*home)
        if at_home.similarity >= GOOD_ENOUGH or pixels.shape[:2] == (height, width):
            return at_home
        others = [match(x, y) for x, y in self._candidates(pixels)]
        return max([at_home, *others], key=lambda one: one.similarity)

    def _candidates(self, pixels: Bytes) -> list[tuple[int, int]]:
        """Where the squared difference in grey is least, for all places at once by Fourier transform."""
        there, mask = _grey(pixels), self.counts.astype(np.float64)
        shape = there.shape
        places = shape[0] - mask.shape[0] + 1, shape[1] - mask.shape[1] + 1
        cross = _correlation(there, _grey(self.pixels) * mask, shape)
        squares = _correlation(there**2, mask, shape)
        distance = (squares - 2 * cross)[: places[0], : places[1]]
        least = np.argsort(distance, axis=None)[:CANDIDATES]
        rows, columns = np.unravel_index(least, distance.shape)
        return [(int(x), int(y)) for x, y in zip(columns, rows, strict=True)]


def mask_of(area: Box, excluded: tuple[Box, ...]) -> Bits:
    """Which pixels of an area count when the excluded ones, given in the same coordinates, do not."""
    counts = np.ones((area.height, area.width), np.bool_)
    for box in excluded:
        x, y = box.x - area.x, box.y - area.y
        counts[max(y, 0) : max(y + box.height, 0), max(x, 0) : max(x + box.width, 0)] = False
    return counts


def _detail(pixels: Bytes) -> Bits:
    """Both pixels of a pair that differ."""
    wide = pixels.astype(np.int16)
    detail = np.zeros(pixels.shape[:2], np.bool_)
    beside = np.abs(np.diff(wide, axis=1)).max(axis=2) > TOLERANCE
    below = np.abs(np.diff(wide, axis=0)).max(axis=2) > TOLERANCE
    detail[:, 1:] |= beside
    detail[:, :-1] |= beside
    detail[1:] |= below
    detail[:-1] |= below
    return detail


def _grey(pixels: Bytes) -> Grey:
    grey: Grey = pixels.mean(axis=2, dtype=np.float64)
    return grey - 127.5


def _correlation(there: Grey, template: Grey, shape: tuple[int, ...]) -> Grey:
    product = np.fft.rfft2(there) * np.conj(np.fft.rfft2(template, s=shape))
    return np.fft.irfft2(product, s=shape)
