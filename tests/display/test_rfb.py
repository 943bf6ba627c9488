"""The client against servers that follow the protocol."""

from concurrent.futures import ThreadPoolExecutor
from struct import pack

import numpy as np
import pytest

from sandboxes.display.framebuffer import Rect

from .servers import ACCEPT, PATIENCE, client_of, hello, init, rect, update

RED, GREEN, BLUE = b"\xff\x00\x00\x00", b"\x00\xff\x00\x00", b"\x00\x00\xff\x00"


@pytest.mark.parametrize(
    "greeting",
    [
        b"RFB 003.003\n" + pack("!I", 1),
        b"RFB 003.007\n\x01\x01",
        b"RFB 003.008\n" + ACCEPT,
        b"RFB 003.008\n\x03\x02\x10\x01" + bytes(4),
        b"RFB 004.001\n" + ACCEPT,
    ],
)
def test_it_shakes_hands_with_every_version(greeting: bytes) -> None:
    with client_of(greeting + init(640, 480)) as (client, _):
        assert client.size == (640, 480)
        assert client.name == "screen"


def test_it_puts_raw_pixels_where_they_belong() -> None:
    with client_of(hello() + update(rect(1, 1, 2, 1, 0, RED + GREEN))) as (client, _):
        assert client.wait_for_change(0, PATIENCE)
        pixels = client.pixels()[..., :3]
        assert pixels[1, 1].tolist() == [255, 0, 0]
        assert pixels[1, 2].tolist() == [0, 255, 0]
        assert np.count_nonzero(pixels) == 2


def test_it_copies_within_the_screen() -> None:
    move = rect(2, 0, 2, 1, 1, pack("!HH", 0, 0))
    with client_of(hello() + update(rect(0, 0, 2, 1, 0, RED + BLUE), move)) as (client, _):
        assert client.wait_for_change(0, PATIENCE)
        assert client.pixels()[0, 2:, :3].tolist() == [[255, 0, 0], [0, 0, 255]]


def test_it_counts_only_updates_that_change_something() -> None:
    red = update(rect(0, 0, 1, 1, 0, RED))
    with client_of(hello() + red + red + update(rect(3, 2, 1, 1, 0, BLUE))) as (client, _):
        assert client.wait_for_change(1, PATIENCE)
        assert [change.rects for change in client.changes(0)] == [(Rect(0, 0, 1, 1),), (Rect(3, 2, 1, 1),)]
        assert client.version == 2


def test_it_stops_at_the_last_rectangle() -> None:
    endless = update(rect(0, 0, 1, 1, 0, RED), rect(0, 0, 0, 0, -224), count=0xFFFF)
    with client_of(hello() + endless + update(rect(1, 0, 1, 1, 0, RED))) as (client, _):
        assert client.wait_for_change(1, PATIENCE)


def test_it_follows_a_new_size() -> None:
    with client_of(hello() + update(rect(0, 0, 7, 5, -223))) as (client, _):
        assert client.wait_for_change(0, PATIENCE)
        assert client.size == (7, 5)
        assert client.pixels().shape == (5, 7, 4)


def test_it_draws_the_pointer_only_when_asked() -> None:
    shape = rect(1, 0, 2, 1, -239, RED + BLUE + b"\x40")
    place = rect(3, 2, 0, 0, 0x574D5666)
    with client_of(hello() + update(shape, place) + update(rect(0, 0, 1, 1, 0, GREEN))) as (client, _):
        assert client.wait_for_change(0, PATIENCE)
        assert client.position == (3, 2)
        assert client.pixels()[2].max() == 0
        assert client.pixels(pointer=True)[2, :, :3].tolist() == [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 255]]


def test_it_skips_what_does_not_concern_it() -> None:
    bell, colours = b"\x02", pack("!BxHH", 1, 0, 2) + bytes(12)
    cut_text = pack("!Bxxxi", 3, 5) + b"hello" + pack("!Bxxxi", 3, -5) + b"hello"
    with client_of(hello() + bell + colours + cut_text + update(rect(0, 0, 1, 1, 0, RED))) as (client, _):
        assert client.wait_for_change(0, PATIENCE)


def test_it_answers_fences() -> None:
    with client_of(hello() + pack("!BxxxIB", 248, 0x80000001, 3) + b"abc") as (_, server):
        server.settimeout(PATIENCE)
        sent = b""
        while not sent.endswith(pack("!BxxxIB", 248, 1, 3) + b"abc"):
            sent += server.recv(4096)


def test_it_does_not_take_an_update_on_its_way_for_an_answer() -> None:
    old, new = update(rect(0, 0, 1, 1, 0, RED)), update(rect(0, 0, 1, 1, 0, BLUE))
    with client_of(hello() + pack("!BxxxIB", 248, 0x80000000, 0)) as (client, server):
        server.settimeout(PATIENCE)
        sent = b""
        while not sent.endswith(pack("!BxxxIB", 248, 0, 0)):
            sent += server.recv(4096)
        server.sendall(old + pack("!BxxxIBQ", 248, 1, 8, 1) + new)
        client.refresh()
        assert client.pixels()[0, 0, :3].tolist() == [0, 0, 255]


def test_it_asks_for_every_change_and_for_one_pixel_in_any_case() -> None:
    with client_of(hello()) as (client, server), ThreadPoolExecutor(1) as other:
        refreshed = other.submit(client.refresh)
        server.settimeout(PATIENCE)
        asked = b""
        while not asked.endswith(pack("!BBHHHH", 3, 1, 0, 0, 4, 3) + pack("!BBHHHH", 3, 0, 0, 0, 1, 1)):
            asked += server.recv(4096)
        server.sendall(update(rect(0, 0, 1, 1, 0, BLUE)))
        refreshed.result(PATIENCE)
