"""What leaves GodHand, taken apart: all that can be read in a file, and all pictures in it."""

import base64
import io
import re
import subprocess
import zipfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageSequence

from agents import ocr
from sandboxes.display.framebuffer import Bytes
from sandboxes.display.screen import Box, Screen
from traces.export.base import Silent
from traces.export.registry import kinds
from traces.material import StoredMaterial
from traces.models import Trace

IN_PAGE = re.compile(rb"data:image/\w+;base64,([A-Za-z0-9+/=]+)")
PICTURES = (".webp", ".png", ".jpg")
MOST = 60
THIN = 4
"""Of the same film in other forms not every frame is read: what was typed is to be seen for longer than that."""

BLOCK, NOISE, AROUND = 8, 6, 24
"""Letters change the mean colour of a block of 8×8 pixels by 20 and more, and a film's noise by 2."""

Blocks = npt.NDArray[np.float32]


def exported(trace: Trace, folder: Path) -> dict[str, Path]:
    """One file of every kind that can be made here."""
    made = {}
    for name, exporter in kinds().items():
        if not exporter.unavailable_reason():
            made[name] = folder / f"{name}.{exporter.suffix}"
            exporter().write(StoredMaterial(trace), made[name], Silent())
    return made


def parts(path: Path) -> Iterator[tuple[str, bytes]]:
    """The files in a file: of an archive all of them, else itself."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield from ((name, archive.read(name)) for name in archive.namelist())
    else:
        yield path.name, path.read_bytes()


def pictures_in(path: Path) -> set[bytes]:
    """As PNG, so that what looks the same counts once."""
    if path.suffix == ".mp4":
        return set(frames_of(path))
    if path.suffix in (".webm", ".gif"):
        return set(frames_of(path)[::THIN])
    found = [data for name, data in parts(path) if name.endswith(PICTURES)]
    found += [base64.b64decode(data) for _, page in parts(path) for data in IN_PAGE.findall(page)]
    return {png(frame) for data in found for frame in opened(data)}


def frames_of(film: Path) -> list[bytes]:
    """Those on which something changed."""
    pattern = film.with_suffix("") / "%04d.png"
    pattern.parent.mkdir()
    changes = ["-vf", "select=eq(n\\,0)+gt(scene\\,0.001)", "-fps_mode", "vfr"]
    subprocess.run(["ffmpeg", "-loglevel", "error", "-i", str(film), *changes, str(pattern)], check=True)
    return [path.read_bytes() for path in sorted(pattern.parent.iterdir())]


def opened(data: bytes) -> Iterator[Image.Image]:
    with Image.open(io.BytesIO(data)) as picture:
        yield from (frame.convert("RGB") for frame in islice(ImageSequence.Iterator(picture), MOST))


def png(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "png", compress_level=1)
    return out.getvalue()


class Reader:
    """Reads pictures; of one that looks like another of its size, only the part in which it does not."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, int], list[Blocks]] = {}

    def __call__(self, data: bytes) -> list[str]:
        (picture, *_) = opened(data)
        screen = Screen.from_rgb(np.asarray(picture))
        blocks, known = _blocks(screen.pixels), self._known.setdefault(screen.size, [])
        fresh = min((_fresh(blocks, other, screen.size) for other in known), key=lambda box: box.area, default=None)
        known.append(blocks)
        lines = ocr.read(screen, fresh) if fresh is None or fresh.area else []
        return [line.text for line in lines]


def _blocks(pixels: Bytes) -> Blocks:
    """The mean colour of each."""
    height, width = pixels.shape[:2]
    padded = np.pad(pixels, ((0, -height % BLOCK), (0, -width % BLOCK), (0, 0)), mode="edge")
    means: Blocks = padded.reshape(-(-height // BLOCK), BLOCK, -1, BLOCK, 3).mean(axis=(1, 3), dtype=np.float32)
    return means


def _fresh(blocks: Blocks, other: Blocks, size: tuple[int, int]) -> Box:
    """The part that differs by more than a film's noise, and what is around it; empty if there is none."""
    differ = np.abs(blocks - other).max(axis=2) > NOISE
    if not differ.any():
        return Box(0, 0, 0, 0)
    (top, bottom), (left, right) = (np.flatnonzero(differ.any(axis=axis))[[0, -1]] * BLOCK for axis in (1, 0))
    x, y = max(0, int(left) - AROUND), max(0, int(top) - AROUND)
    return Box(x, y, min(size[0], int(right) + BLOCK + AROUND) - x, min(size[1], int(bottom) + BLOCK + AROUND) - y)
