"""What passes the gate. Messages are checked by a reader of their own, written from the RFB specification."""

from contextlib import suppress
from itertools import pairwise
from struct import pack, unpack_from

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxes.display.filter import MAX_CUT_TEXT, ClientFilter, Forbidden, Role

HANDSHAKE = b"RFB 003.008\n\x01\x00"
SHAKEN = b"RFB 003.008\n\x01\x01"

PIXEL_FORMAT = bytes(20)
ENCODINGS = pack("!BxH3i", 2, 3, 0, 1, -239)
REQUEST = pack("!BBHHHH", 3, 1, 0, 0, 1280, 800)
KEY = pack("!BBxxI", 4, 1, 0x61)
POINTER = pack("!BBHH", 5, 1, 10, 20)
CUT_TEXT = pack("!Bxxxi", 6, 5) + b"hello"
LONG_CUT_TEXT = pack("!Bxxxi", 6, -9) + b"extended!"
CONTINUOUS = pack("!BBHHHH", 150, 1, 0, 0, 1280, 800)
FENCE = pack("!BxxxIB", 248, 1, 3) + b"abc"
XVP = bytes([250, 0, 1, 2])
RESIZE = pack("!BxHHBx", 251, 640, 480, 1) + bytes(16)
QEMU_KEY = pack("!BBHII", 255, 0, 1, 0x61, 30)

HARMLESS = [PIXEL_FORMAT, ENCODINGS, REQUEST, CONTINUOUS, FENCE]
INPUT = [KEY, POINTER, CUT_TEXT, LONG_CUT_TEXT, QEMU_KEY]
NEVER = [XVP, RESIZE]

messages = st.lists(st.sampled_from(HARMLESS + INPUT + NEVER), max_size=30)


def passed(role: Role, *stream: bytes, clipboard: bool = True) -> bytes:
    return ClientFilter(role, clipboard=clipboard).feed(HANDSHAKE + b"".join(stream)).removeprefix(SHAKEN)


def types_in(stream: bytes) -> list[int]:
    found = []
    while stream:
        kind = stream[0]
        length = {0: 20, 3: 10, 4: 8, 5: 6, 150: 10, 250: 4, 255: 12}.get(kind)
        if kind == 2:
            length = 4 + 4 * unpack_from("!H", stream, 2)[0]
        if kind == 6:
            length = 8 + abs(unpack_from("!i", stream, 4)[0])
        if kind == 248:
            length = 9 + stream[8]
        assert length is not None
        found.append(kind)
        stream = stream[length:]
    return found


def in_pieces(stream: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(stream) + 1) for cut in cuts), len(stream)]
    return [stream[a:b] for a, b in pairwise(edges)]


@pytest.mark.parametrize("role", ["view", "drive"])
@pytest.mark.parametrize("message", HARMLESS)
def test_it_passes_what_a_viewer_needs(role: Role, message: bytes) -> None:
    assert passed(role, message) == message


@pytest.mark.parametrize("message", INPUT)
def test_it_passes_input_of_drivers_only(message: bytes) -> None:
    assert passed("drive", message, REQUEST) == message + REQUEST
    assert passed("view", message, REQUEST) == REQUEST


@pytest.mark.parametrize("role", ["view", "drive"])
@pytest.mark.parametrize("message", NEVER)
def test_it_passes_no_power_and_no_size(role: Role, message: bytes) -> None:
    assert passed(role, message, REQUEST) == REQUEST


def test_it_passes_the_clipboard_only_where_allowed() -> None:
    assert passed("drive", CUT_TEXT, KEY, clipboard=False) == KEY


@pytest.mark.parametrize("handshake", [HANDSHAKE, b"RFB 003.007\n\x01\x00", b"RFB 003.008\n\x02" + bytes(16) + b"\x00"])
def test_it_always_asks_to_share(handshake: bytes) -> None:
    assert ClientFilter("view").feed(handshake) == handshake[:-1] + b"\x01"


@pytest.mark.parametrize(
    "stream",
    [
        b"RFB 003.003\n",
        b"GET / HTTP/1.1\r\n",
        b"RFB 003.008\n\x10",
        HANDSHAKE + b"\x01",
        HANDSHAKE + bytes([252]),
        HANDSHAKE + bytes([255, 1]),
        HANDSHAKE + pack("!BxH", 2, 257),
        HANDSHAKE + pack("!Bxxxi", 6, MAX_CUT_TEXT + 1),
        HANDSHAKE + pack("!Bxxxi", 6, -(2**31)),
    ],
)
@pytest.mark.parametrize("role", ["view", "drive"])
def test_it_ends_what_it_does_not_know(role: Role, stream: bytes) -> None:
    with pytest.raises(Forbidden) as forbidden:
        ClientFilter(role).feed(stream)
    assert forbidden.value.code == 4400


def test_it_leaves_the_server_one_way_to_read_a_pointer_event() -> None:
    """The seventh byte must not be taken for the type of a message by a server that reads six."""
    assert passed("drive", pack("!BBHHB", 5, 0x81, 10, 20, 251), KEY) == POINTER + KEY
    assert passed("drive", pack("!BxH3i", 2, 3, 0, -316, 1)) == pack("!BxH2i", 2, 2, 0, 1)


def test_it_obeys_a_role_that_changes() -> None:
    role: list[Role] = ["view"]
    client = ClientFilter(lambda: role[0])
    client.feed(HANDSHAKE)
    assert client.feed(KEY + KEY[:4]) == b""
    role[0] = "drive"
    assert client.feed(KEY[4:] + POINTER) == KEY + POINTER
    role[0] = "view"
    assert client.feed(POINTER + REQUEST) == REQUEST


@given(messages, st.lists(st.integers(0, 2000), max_size=40), st.sampled_from(["view", "drive"]))
def test_it_does_not_matter_how_the_stream_is_cut(stream: list[bytes], cuts: list[int], role: Role) -> None:
    whole = HANDSHAKE + b"".join(stream)
    client = ClientFilter(role)
    assert b"".join(client.feed(piece) for piece in in_pieces(whole, cuts)) == ClientFilter(role).feed(whole)


@given(messages, st.binary(max_size=60), st.lists(st.integers(0, 2000), max_size=40))
def test_it_never_lets_a_viewer_touch_anything(stream: list[bytes], noise: bytes, cuts: list[int]) -> None:
    client = ClientFilter("view")
    client.feed(HANDSHAKE)
    out = b""
    with suppress(Forbidden):
        for piece in in_pieces(b"".join(stream) + noise, cuts):
            out += client.feed(piece)
    assert not {4, 5, 6, 250, 251, 255} & set(types_in(out))
