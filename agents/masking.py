"""Burns solid boxes over secrets in pictures, before these are stored."""

import io
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from sandboxes.display.diff import diff
from sandboxes.display.screen import Box, Screen
from traces.pictures import FORMATS, Corners, Masked, burn

from . import ocr
from .likeness import SHORTEST, Likeness
from .ocr import Line
from .spotting import Span

Spotter = Callable[[str], Iterable[Span]]
"""The parts of a line that must not be seen, none of them empty."""

SIZES = 4
PAD = 3
AROUND = (96, 20)
"""How far beside and above a change the text is read again: the change may be the end of a word."""

MOST = 0.6
"""Of a picture: when more than this has changed, all of it is read."""

LINES_BELOW = 4


@dataclass(frozen=True)
class Seen:
    screen: Screen
    lines: tuple[Line, ...]


class Masker:
    """A Mask for pictures that follow each other: of each size the last is known, and only what changed is read."""

    def __init__(self, secrets: Sequence[str], *, spotters: Sequence[Spotter] = ()) -> None:
        self._likes = [Likeness(line) for secret in secrets for line in _lines_of(secret)]
        self._spotters = tuple(spotters)
        self._seen: OrderedDict[tuple[int, int], Seen] = OrderedDict()

    def __call__(self, data: bytes, media_type: str) -> Masked:
        """Raises Unavailable when text cannot be read here."""
        with Image.open(io.BytesIO(data), formats=list(FORMATS.values())) as picture:
            boxes = self.found(Screen.from_rgb(np.asarray(picture.convert("RGB"))))
            return Masked(*burn(picture, boxes, media_type), len(boxes)) if boxes else Masked(data, media_type)

    def found(self, screen: Screen) -> list[Corners]:
        """Where secrets are seen."""
        if not self._likes and not self._spotters:
            return []
        lines = self._lines(screen)
        boxes = {_padded(part.box, screen.size) for part in self._parts(lines)}
        return sorted(boxes)

    def _lines(self, screen: Screen) -> tuple[Line, ...]:
        known = self._seen.pop(screen.size, None)
        lines = read_again(screen, known) if known else tuple(ocr.read(screen))
        self._seen[screen.size] = Seen(screen, lines)
        while len(self._seen) > SIZES:
            self._seen.popitem(last=False)
        return lines

    def _parts(self, lines: Sequence[Line]) -> Iterator[Line]:
        for line in lines:
            for spot in self._spotters:
                yield from (line.part(*span) for span in spot(line.text))
        for chain in _chains(lines) if self._likes else ():
            text = "".join(line.text for line in chain)
            for like in self._likes:
                for span in like.spans_in(text):
                    yield from _parts_of(chain, span)


def _lines_of(secret: str) -> list[str]:
    """A key in several lines is seen line by line, and one in one line as it is."""
    return [line for line in secret.splitlines() if len(line.strip()) >= SHORTEST] or [secret]


def read_again(screen: Screen, known: Seen) -> tuple[Line, ...]:
    """The lines of a screen, of which only what differs from a known one is read."""
    changed = [_grown(box, screen.size) for box in diff(known.screen, screen).boxes]
    regions = _whole_lines(changed, known.lines)
    if sum(box.width * box.height for box in regions) > MOST * screen.size[0] * screen.size[1]:
        return tuple(ocr.read(screen))
    kept = (line for line in known.lines if not any(_touch(line.box, region) for region in regions))
    fresh = (line for region in regions for line in ocr.read(screen, region))
    return tuple(sorted((*kept, *fresh), key=lambda line: (line.box.y, line.box.x)))


def _whole_lines(boxes: Iterable[Box], lines: Sequence[Line]) -> list[Box]:
    """Boxes that cut no known line in two, and no other box."""
    regions: list[Box] = []
    for box in boxes:
        grown = True
        while grown:
            near = [line.box for line in lines if _touch(line.box, box)] + [one for one in regions if _touch(one, box)]
            regions = [one for one in regions if not _touch(one, box)]
            wider = _around([box, *near])
            grown, box = wider != box, wider
        regions.append(box)
    return regions


def _chains(lines: Sequence[Line]) -> Iterator[Sequence[Line]]:
    """Each line alone, with what is right of it, and with what is below it: a secret may go on there."""
    for line in lines:
        yield (line,)
        right = _beside(line, lines)
        if right:
            yield (line, right)
        below = [line]
        while len(below) < LINES_BELOW and (following := _below(below[-1], lines)):
            below.append(following)
        if len(below) > 1:
            yield below


def _beside(line: Line, lines: Sequence[Line]) -> Line | None:
    box = line.box
    level = [
        one
        for one in lines
        if one.box.x >= box.x + box.width - PAD and abs(_middle(one.box) - _middle(box)) < box.height / 2
    ]
    return min(level, key=lambda one: one.box.x, default=None)


def _below(line: Line, lines: Sequence[Line]) -> Line | None:
    box = line.box
    near = [
        one
        for one in lines
        if 0 < _middle(one.box) - _middle(box) < 2.2 * box.height
        and one.box.x < box.x + box.width
        and box.x < one.box.x + one.box.width
    ]
    return min(near, key=lambda one: (one.box.y, one.box.x), default=None)


def _parts_of(chain: Sequence[Line], span: Span) -> Iterator[Line]:
    start = 0
    for line in chain:
        first, last = max(span[0] - start, 0), min(span[1] - start, len(line.text))
        if first < last:
            yield line.part(first, last)
        start += len(line.text)


def _middle(box: Box) -> float:
    return box.y + box.height / 2


def _padded(box: Box, size: tuple[int, int]) -> Corners:
    """The edges of letters are read a few pixels off."""
    beside = PAD + box.height // 3
    x, y = max(0, box.x - beside), max(0, box.y - PAD)
    right, bottom = min(size[0], box.x + box.width + beside), min(size[1], box.y + box.height + PAD)
    return x, y, right - x, bottom - y


def _grown(box: Box, size: tuple[int, int]) -> Box:
    x, y = max(0, box.x - AROUND[0]), max(0, box.y - AROUND[1])
    right, bottom = min(size[0], box.x + box.width + AROUND[0]), min(size[1], box.y + box.height + AROUND[1])
    return Box(x, y, right - x, bottom - y)


def _touch(a: Box, b: Box) -> bool:
    return a.x < b.x + b.width and b.x < a.x + a.width and a.y < b.y + b.height and b.y < a.y + a.height


def _around(boxes: Sequence[Box]) -> Box:
    x, y = min(box.x for box in boxes), min(box.y for box in boxes)
    right = max(box.x + box.width for box in boxes)
    bottom = max(box.y + box.height for box in boxes)
    return Box(x, y, right - x, bottom - y)
