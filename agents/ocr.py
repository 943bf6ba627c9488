"""Reads the text on a screen, offline.

RapidOCR rather than Tesseract: of 119 texts on ten real screens of 1280×800 it found all, and Tesseract 112, or 114 in
two passes; it reads any script and knows the place of every character. One core needs 0.8 to 2.5 seconds for such a
screen and 18 for one full of small print (Tesseract 0.6 to 2.0, and 6); it costs 270 MB on the disk instead of 23, and
310 MB of memory in a process that reads.
"""

import hashlib
import os
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from sandboxes.display.framebuffer import Bytes
from sandboxes.display.screen import Box, Screen
from sandboxes.errors import Unavailable

from .spotting import Signs, Span

REMEMBERED = 16
SHORTEST = 32
SETTINGS = {
    "Global.log_level": "critical",
    "Global.use_cls": False,
    "Det.limit_side_len": SHORTEST,
    "Rec.rec_img_shape": [3, 48, 48],
    "Rec.rec_batch_num": 1,
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
}
"""Small parts are not blown up, nor short texts padded to the length of long ones: three times as fast, and as good."""

GAP = 0.75
"""Of a line's height: pieces nearer to each other than this are one line."""


@dataclass(frozen=True)
class Line:
    """`confidence` is from 0 to 1. `columns` are the left and right edge of each character of `text`."""

    text: str
    box: Box
    confidence: float
    columns: tuple[Span, ...] = field(default=(), repr=False)

    def part(self, start: int, end: int) -> "Line":
        """The characters from `start` to before `end`."""
        if (start, end) == (0, len(self.text)):
            return self
        columns = self.columns or _evenly(self.text, self.box)
        left, right = columns[start][0], columns[end - 1][1]
        box = Box(left, self.box.y, max(1, right - left), self.box.height)
        return Line(self.text[start:end], box, self.confidence, columns[start:end])


def read(screen: Screen, region: Box | None = None) -> list[Line]:
    """From top to bottom, and from left to right. Boxes are of the whole screen, also when only a region is read.

    Raises Unavailable when a package is missing, and ValueError for a region that is not wholly on the screen.
    """
    if region is None:
        return list(_reader(os.getpid()).read(screen))
    lines = _reader(os.getpid()).read(screen.crop(*region))
    return [_moved(line, region.x, region.y) for line in lines]


def contains(lines: Sequence[Line], wanted: str) -> Line | None:
    """The best place of a text, with the box of just that text; None when it is not there.

    Case and spaces do not matter, and one letter in eight may be wrong. Figures must be right, all of them: 12 is not
    in 123, in 1.12 or in “1 2”.
    """
    return next(iter(find(lines, wanted)), None)


def find(lines: Sequence[Line], wanted: str) -> list[Line]:
    """All places of a text, the surest first: those without errors, then whole lines, then whole words."""
    sought = Signs.of(wanted)
    found = [(place.doubt, line.part(*place.span)) for line in lines for place in sought.places_in(line.text)]
    return [line for _, line in sorted(found, key=lambda one: one[0])]


class _Reader:
    """A process that was forked needs its own: the engine's threads stay behind."""

    def __init__(self) -> None:
        try:
            from rapidocr import RapidOCR
        except ImportError as error:
            raise Unavailable(
                f"Text on the screen cannot be read, for the Python package {error.name or 'rapidocr'} is missing: "
                "stop GodHand and start it again with ./godhand up, which installs it."
            ) from None
        self._engine: Any = RapidOCR(params=SETTINGS)
        self._known: OrderedDict[bytes, tuple[Line, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, screen: Screen) -> tuple[Line, ...]:
        pixels = np.ascontiguousarray(screen.pixels[..., ::-1])
        key = hashlib.blake2b(pixels.data, digest_size=16, person=repr(screen.size).encode()[:16]).digest()
        with self._lock:
            if key not in self._known:
                seen = self._engine(_large_enough(pixels), return_word_box=True, return_single_char_box=True)
                self._known[key] = tuple(_lines(seen))
            self._known.move_to_end(key)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
            return self._known[key]


_reader = cache(lambda process: _Reader())


def _large_enough(pixels: Bytes) -> Bytes:
    """The engine would blow up a narrow picture until its short side is long enough, whatever the other becomes."""
    missing = [(0, max(0, SHORTEST - side)) for side in pixels.shape[:2]]
    return np.pad(pixels, (*missing, (0, 0)), mode="edge") if any(more for _, more in missing) else pixels


def _lines(seen: Any) -> list[Line]:
    """Pieces come sorted by rows."""
    lines: list[Line] = []
    pieces = () if seen.boxes is None else zip(seen.boxes, seen.txts, seen.scores, seen.word_results, strict=True)
    for corners, text, confidence, characters in pieces:
        if not text.strip():
            continue
        left, top = (int(value) for value in corners.min(axis=0))
        right, bottom = (int(np.ceil(value)) for value in corners.max(axis=0))
        box = Box(max(0, left), max(0, top), right - max(0, left), bottom - max(0, top))
        line = Line(text, box, float(confidence), _columns(text, box, characters))
        if lines and _continues(lines[-1], line):
            line = _joined(lines.pop(), line)
        lines.append(line)
    return lines


def _columns(text: str, box: Box, characters: Sequence[Any]) -> tuple[Span, ...]:
    if "".join(one[0] for one in characters) != "".join(text.split(" ")):
        return _evenly(text, box)
    spans = iter([(int(min(x for x, _ in one[2])), int(max(x for x, _ in one[2]))) for one in characters])
    columns: list[Span] = []
    for character in text:
        edge = columns[-1][1] if columns else box.x
        columns.append((edge, edge) if character == " " else next(spans))
    return tuple(columns)


def _evenly(text: str, box: Box) -> tuple[Span, ...]:
    edges = [box.x + box.width * place // len(text) for place in range(len(text) + 1)]
    return tuple(pairwise(edges))


def _continues(line: Line, piece: Line) -> bool:
    height = min(line.box.height, piece.box.height)
    shared = min(line.box.y + line.box.height, piece.box.y + piece.box.height) - max(line.box.y, piece.box.y)
    gap = piece.columns[0][0] - line.columns[-1][1]
    return shared > height / 2 and -height / 2 < gap < GAP * height


def _joined(line: Line, piece: Line) -> Line:
    top = min(line.box.y, piece.box.y)
    bottom = max(line.box.y + line.box.height, piece.box.y + piece.box.height)
    box = Box(line.box.x, top, piece.box.x + piece.box.width - line.box.x, bottom - top)
    space = (line.columns[-1][1], piece.columns[0][0])
    confidence = min(line.confidence, piece.confidence)
    return Line(f"{line.text} {piece.text}", box, confidence, (*line.columns, space, *piece.columns))


def _moved(line: Line, x: int, y: int) -> Line:
    box = line.box._replace(x=line.box.x + x, y=line.box.y + y)
    return replace(line, box=box, columns=tuple((left + x, right + x) for left, right in line.columns))
