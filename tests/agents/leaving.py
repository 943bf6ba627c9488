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
from PIL import Image, ImageSequence

from agents import ocr
from sandboxes.display.screen import Screen
from traces.export.base import Silent
from traces.export.registry import kinds
from traces.material import StoredMaterial
from traces.models import Trace

IN_PAGE = re.compile(rb"data:image/\w+;base64,([A-Za-z0-9+/=]+)")
PICTURES = (".webp", ".png", ".jpg")
MOST = 60


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


def read(data: bytes) -> list[str]:
    (picture, *_) = opened(data)
    return [line.text for line in ocr.read(Screen.from_rgb(np.asarray(picture)))]
