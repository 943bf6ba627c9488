"""Compressed rectangles, from servers that follow the protocol and from others."""

import zlib
from struct import pack

import numpy as np
import pytest

from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display import rfb
from sandboxes.errors import Gone

from .servers import PATIENCE, client_of, hello, rect, update

RED, GREEN, BLUE = b"\xff\x00\x00", b"\x00\xff\x00", b"\x00\x00\xff"
FILL, JPEG, PLAIN, FILTERED = 0x80, 0x90, 0x00, 0x40
COPY, PALETTE, GRADIENT = 0, 1, 2


class Deflater:
    """One of a server's streams."""

    def __init__(self) -> None:
        self._stream = zlib.compressobj(1)

    def __call__(self, data: bytes) -> bytes:
        deflated = self._stream.compress(data) + self._stream.flush(zlib.Z_SYNC_FLUSH)
        assert len(deflated) < 128
        return bytes([len(deflated)]) + deflated


def tight(body: bytes, *, x: int = 0, y: int = 0, width: int = 4, height: int = 3) -> bytes:
    return rect(x, y, width, height, 7, body)


def shown(*rects: bytes) -> list[list[list[int]]]:
    with client_of(hello() + update(*rects)) as (client, _):
        assert client.wait_for_change(0, PATIENCE)
        rows: list[list[list[int]]] = client.pixels()[..., :3].tolist()
        return rows


def colours(*pixels: bytes) -> list[list[int]]:
    return [list(pixel) for pixel in pixels]


def test_it_fills_with_one_colour() -> None:
    assert shown(tight(bytes([FILL]) + RED)) == [colours(RED, RED, RED, RED)] * 3


def test_it_reads_a_few_pixels_as_they_are() -> None:
    assert shown(tight(bytes([PLAIN]) + RED + GREEN + BLUE, width=3, height=1))[0][:3] == colours(RED, GREEN, BLUE)


def test_it_goes_on_with_a_stream_from_rectangle_to_rectangle() -> None:
    deflate, row = Deflater(), RED + GREEN + BLUE + RED
    rects = [tight(bytes([PLAIN]) + deflate(row), y=y, height=1) for y in range(3)]
    assert shown(*rects) == [colours(RED, GREEN, BLUE, RED)] * 3


def test_it_begins_a_stream_anew_when_told() -> None:
    row = RED + GREEN + BLUE + RED
    rects = [tight(bytes([PLAIN | 1]) + Deflater()(row), y=y, height=1) for y in range(2)]
    assert shown(*rects)[:2] == [colours(RED, GREEN, BLUE, RED)] * 2


def test_it_keeps_its_four_streams_apart() -> None:
    first, second, row = Deflater(), Deflater(), RED + GREEN + BLUE + RED
    ways = [(PLAIN, first), (PLAIN | 0x10, second), (PLAIN, first)]
    rects = [tight(bytes([way]) + stream(row), y=y, height=1) for y, (way, stream) in enumerate(ways)]
    assert shown(*rects) == [colours(RED, GREEN, BLUE, RED)] * 3


def test_it_reads_two_colours_bit_by_bit() -> None:
    body = bytes([FILTERED, PALETTE, 1]) + GREEN + RED + bytes([0b10100000, 0, 0b00010000])
    assert shown(tight(body)) == [colours(RED, GREEN, RED, GREEN), colours(*[GREEN] * 4), colours(*[GREEN] * 3, RED)]


def test_it_reads_a_palette() -> None:
    indices = bytes([0, 1, 2, 0] * 3)
    body = bytes([FILTERED, PALETTE, 2]) + RED + GREEN + BLUE + Deflater()(indices)
    assert shown(tight(body)) == [colours(RED, GREEN, BLUE, RED)] * 3


def test_it_reads_an_explicit_copy() -> None:
    assert shown(tight(bytes([FILTERED, COPY]) + RED, width=1, height=1))[0][0] == list(RED)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(bytes([JPEG]) + b"\x01x", id="a picture that loses"),
        pytest.param(bytes([0xA0]) + b"\x01x", id="a kind that nobody knows"),
        pytest.param(bytes([FILTERED, GRADIENT]) + b"\x01x", id="a filter not asked for"),
        pytest.param(bytes([PLAIN]) + b"\x04junk", id="what does not inflate"),
        pytest.param(bytes([PLAIN]) + Deflater()(bytes(4096)), id="more than there is room for"),
        pytest.param(bytes([PLAIN]) + Deflater()(bytes(35)), id="less than was said"),
        pytest.param(bytes([PLAIN, 0]), id="nothing at all"),
        pytest.param(bytes([FILTERED, PALETTE, 2]) + RED * 3 + Deflater()(bytes([3] * 12)), id="an unknown colour"),
        pytest.param(bytes([FILTERED, PALETTE, 0]) + RED + b"\xff\xff\xff", id="a bit too many"),
    ],
)
def test_it_is_gone_after(body: bytes) -> None:
    with client_of(hello() + update(tight(body))) as (client, _), pytest.raises(Gone):
        client.wait_for_change(0, PATIENCE)


def test_it_is_gone_when_a_rectangle_leaves_the_screen() -> None:
    with client_of(hello() + update(tight(bytes([FILL]) + RED, x=1))) as (client, _), pytest.raises(Gone):
        client.wait_for_change(0, PATIENCE)


def test_it_sees_every_pixel_as_it_is(machine: GvisorSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    with machine.desktop() as desktop:
        compressed = desktop.screenshot().pixels[:760]
    monkeypatch.setattr(rfb, "_SET_ENCODINGS", pack("!BxHi", 2, 1, 0))
    with machine.desktop() as desktop:
        raw = desktop.screenshot().pixels[:760]
    assert len(np.unique(raw.reshape(-1, 3), axis=0)) > 256
    assert np.array_equal(compressed, raw)
