"""Thumbnails and sheets of them: small, made once, gone with their pictures, and unmoved by hostile files."""

import io
import struct
import zlib
from pathlib import Path

import pytest
from django.conf import settings
from PIL import Image

from traces import storage, thumbs
from traces.blobs import BlobStore
from traces.errors import Damaged
from traces.models import Blob
from traces.payloads import Sha256

pytestmark = pytest.mark.django_db

COLOURS = {"red": (255, 0, 0), "lime": (0, 255, 0), "blue": (0, 0, 255)}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own one, so that others' thumbnails are not swept away."""

    class Host:
        home = tmp_path

    monkeypatch.setattr(settings, "HOST", Host)
    return tmp_path


def kept(store: BlobStore, data: bytes, media_type: str = "image/webp") -> Sha256:
    sha256, size = store.add(data, media_type)
    Blob.objects.create(sha256=sha256, media_type=media_type, size=size)
    return sha256


def screen(colour: str, size: tuple[int, int] = (1280, 800)) -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "webp", lossless=True)
    return out.getvalue()


def decoded(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data), formats=["webp"]).convert("RGB")


def near(pixel: object, colour: str) -> bool:
    assert isinstance(pixel, tuple)
    return all(abs(one - other) < 12 for one, other in zip(pixel, COLOURS[colour], strict=True))


def test_it_makes_a_small_picture(store: BlobStore) -> None:
    small = decoded(thumbs.thumbnail(kept(store, screen("red")), store))
    assert small.size == (230, 144)
    assert near(small.getpixel((100, 100)), "red")


@pytest.mark.parametrize(("size", "small"), [((600, 1200), (72, 144)), ((4000, 100), (232, 6)), ((40, 30), (40, 30))])
def test_it_keeps_the_shape(store: BlobStore, size: tuple[int, int], small: tuple[int, int]) -> None:
    assert decoded(thumbs.thumbnail(kept(store, screen("red", size)), store)).size == small


def test_it_makes_each_once(store: BlobStore, home: Path) -> None:
    sha256 = kept(store, screen("red"))
    first = thumbs.thumbnail(sha256, store)
    store.path_of(sha256, "image/webp").unlink()
    assert thumbs.thumbnail(sha256, store) == first
    assert not list(home.glob("thumbs/.new/*"))


def test_it_puts_every_tile_in_its_place(store: BlobStore) -> None:
    red, lime = kept(store, screen("red")), kept(store, screen("lime"))
    tiles = decoded(thumbs.sheet([red, None, *[lime] * 10, red], store))
    assert tiles.size == (thumbs.COLUMNS * thumbs.TILE_WIDTH, 2 * thumbs.TILE_HEIGHT)
    for number, colour in ((0, "red"), (2, "lime"), (9, "lime"), (11, "lime"), (12, "red")):
        x, y = thumbs.place(number)
        assert near(tiles.getpixel((x + 116, y + 72)), colour)
    empty = tiles.getpixel((thumbs.TILE_WIDTH + 116, 72))
    assert not near(empty, "red")
    assert not near(empty, "lime")


def test_it_names_a_sheet_by_what_is_on_it(store: BlobStore) -> None:
    red, lime = kept(store, screen("red")), kept(store, screen("lime"))
    names = {thumbs.sheet_name(shas) for shas in ([red], [lime], [red, lime], [lime, red], [None, red], [red, None])}
    assert len(names) == 6


def test_it_leaves_a_tile_empty_for_what_it_cannot_show(store: BlobStore) -> None:
    red, text = kept(store, screen("red")), kept(store, b"no picture", "text/plain")
    tiles = decoded(thumbs.sheet([text, Sha256("0" * 64), red], store))
    x, y = thumbs.place(2)
    assert near(tiles.getpixel((x + 116, y + 72)), "red")


def test_it_has_a_most_of_tiles(store: BlobStore) -> None:
    assert decoded(thumbs.sheet([None] * thumbs.SHEET, store)).size[1] == 5 * thumbs.TILE_HEIGHT
    for count in (0, thumbs.SHEET + 1):
        with pytest.raises(ValueError, match="from 1 to 50"):
            thumbs.sheet([None] * count, store)


def png_bomb() -> bytes:
    """A few kilobytes that say they are forty thousand pixels wide and high."""
    parts = [(b"IHDR", struct.pack(">IIBBBBB", 40_000, 40_000, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(bytes(10**6)))]
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.mark.parametrize(
    ("data", "media_type"),
    [
        (png_bomb(), "image/png"),
        (screen("red")[:40], "image/webp"),
        (b"RIFF\0\0\0\0WEBPVP8L", "image/webp"),
        (b"", "image/png"),
        (b"GIF89a", "image/gif"),
        (b"<svg/>", "image/svg+xml"),
        (screen("red", (8, 8)), "image/png"),
    ],
)
def test_it_says_so_when_it_is_no_picture(store: BlobStore, data: bytes, media_type: str) -> None:
    with pytest.raises(Damaged):
        thumbs.thumbnail(kept(store, data, media_type), store)


@pytest.mark.parametrize("name", ["0" * 64, "../../etc/passwd", "", "x" * 64])
def test_it_says_so_when_there_is_none(store: BlobStore, name: str) -> None:
    with pytest.raises(Damaged):
        thumbs.thumbnail(name, store)


def test_it_goes_with_the_pictures(store: BlobStore, home: Path) -> None:
    red, lime = kept(store, screen("red")), kept(store, screen("lime"))
    thumbs.sheet([red], store)
    thumbs.sheet([red, lime], store)
    assert thumbs.sweep() == 0
    assert len(list(home.glob("thumbs/sheets/*"))) == 2
    Blob.objects.filter(pk=lime).update(used_at="2020-01-01T00:00:00Z")
    Blob.objects.filter(pk=red).update(used_at="2999-01-01T00:00:00Z")
    storage.collect(store)
    assert thumbs.sweep() == 1
    assert [path.stem for path in home.glob("thumbs/??/*")] == [red]
    assert not list(home.glob("thumbs/sheets/*"))
