"""Small pictures of big ones, for strips of steps. They are a cache: whatever is missing is made again.

<home>/thumbs/ab/abcd….webp     one picture
<home>/thumbs/sheets/….webp     many in one file, named by what is on it
<home>/thumbs/.new/…            being written
"""

import hashlib
import io
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.conf import settings
from PIL import Image

from .blobs import HASH, BlobStore
from .errors import Damaged
from .models import Blob
from .payloads import Sha256
from .pictures import FORMATS, MOST_PIXELS
from .queries import stored

SHEET = 50
COLUMNS = 10
TILE_WIDTH, TILE_HEIGHT = 232, 144
"""Pixels of the file: a tile is shown at half of that, so it is crisp on every screen."""

QUALITY = 70
EMPTY = "#8a8f98"
OLD = 7 * 24 * 3600.0
"""Seconds after which a sheet is made again: a run that goes on leaves many behind."""


def thumbnail(sha256: str, blobs: BlobStore | None = None) -> bytes:
    """WebP, TILE_WIDTH wide at most. Raises Damaged when there is no such picture."""
    if not HASH.fullmatch(sha256):
        raise Damaged("There is no such picture.")
    return _cached(_root() / sha256[:2] / f"{sha256}.webp", lambda: _small(Sha256(sha256), blobs))


def sheet(shas: Sequence[Sha256 | None], blobs: BlobStore | None = None) -> bytes:
    """WebP of SHEET tiles at most, always COLUMNS wide; None, and what cannot be shown, is an empty tile.

    Raises ValueError for none, and for more than SHEET.
    """
    if not 0 < len(shas) <= SHEET:
        raise ValueError(f"A sheet has from 1 to {SHEET} tiles.")
    return _cached(_root() / "sheets" / f"{sheet_name(shas)}.webp", lambda: _sheet(shas, blobs))


def sheet_name(shas: Sequence[Sha256 | None]) -> str:
    """Changes with what is on the sheet, so that its address can be cached for ever."""
    return hashlib.sha256(" ".join(sha or "-" for sha in shas).encode()).hexdigest()[:32]


def place(number: int) -> tuple[int, int]:
    """Where the tile with that number, from 0 on, is in its sheet: x and y."""
    row, column = divmod(number % SHEET, COLUMNS)
    return column * TILE_WIDTH, row * TILE_HEIGHT


def sweep() -> int:
    """Removes what was made of pictures that are gone, and says how many: a sheet may show any of them."""
    wanted = set(Blob.objects.values_list("pk", flat=True))
    gone = [path for path in _root().glob("[0-9a-f][0-9a-f]/*.webp") if path.stem not in wanted]
    made = [*_root().glob("sheets/*"), *_root().glob(".new/*")]
    for path in [*gone, *(path for path in made if gone or _is_old(path))]:
        path.unlink(missing_ok=True)
    return len(gone)


def _is_old(path: Path) -> bool:
    with suppress(FileNotFoundError):
        return path.stat().st_mtime < time.time() - OLD
    return False


def _root() -> Path:
    return Path(settings.HOST.home) / "thumbs"


def _cached(path: Path, make: Callable[[], bytes]) -> bytes:
    with suppress(FileNotFoundError):
        return path.read_bytes()
    data = make()
    with suppress(OSError):
        _write(path, data)
    return data


def _write(path: Path, data: bytes) -> None:
    new = _root() / ".new"
    for folder in (new, path.parent):
        folder.mkdir(parents=True, exist_ok=True)
    with NamedTemporaryFile(dir=new, delete=False) as file:
        file.write(data)
    Path(file.name).rename(path)


def _small(sha256: Sha256, blobs: BlobStore | None) -> bytes:
    kept = stored(sha256, blobs)
    if kept.media_type not in FORMATS:
        raise Damaged("There is no such picture.")
    try:
        with Image.open(io.BytesIO(kept.data), formats=[FORMATS[kept.media_type]]) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise Damaged("The picture is too large to be shown.")
            small = picture.convert("RGB")
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        raise Damaged("The picture cannot be read.") from None
    scale = min(TILE_WIDTH / small.width, TILE_HEIGHT / small.height, 1)
    size = (max(1, round(small.width * scale)), max(1, round(small.height * scale)))
    return _encoded(small.resize(size, Image.Resampling.LANCZOS, reducing_gap=2))


def _sheet(shas: Sequence[Sha256 | None], blobs: BlobStore | None) -> bytes:
    rows = -(-len(shas) // COLUMNS)
    tiles = Image.new("RGB", (COLUMNS * TILE_WIDTH, rows * TILE_HEIGHT), EMPTY)
    for sha256 in {sha256 for sha256 in shas if sha256}:
        with suppress(Damaged):
            tile = Image.open(io.BytesIO(thumbnail(sha256, blobs)), formats=["webp"])
            for number in (number for number, other in enumerate(shas) if other == sha256):
                x, y = place(number)
                tiles.paste(tile, (x + (TILE_WIDTH - tile.width) // 2, y + (TILE_HEIGHT - tile.height) // 2))
    return _encoded(tiles)


def _encoded(picture: Image.Image) -> bytes:
    out = io.BytesIO()
    picture.save(out, "webp", quality=QUALITY, method=2)
    return out.getvalue()
