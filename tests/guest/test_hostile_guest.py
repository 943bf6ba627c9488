"""The client against a guest that an attacker has taken over."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxes.errors import Gone, OutputLimit, Refused, SandboxError
from sandboxes.guest.client import Guest
from sandboxes.guest.connection import parse
from sandboxes.guest.daemon.protocol import Malformed, parse_header

HELLO = b'{"ok": true, "version": 1, "instance": "i", "sizes": []}\n'
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@contextmanager
def guest_that_says(*answers: bytes, hello: bytes = HELLO, reborn: bool = False) -> Iterator[Guest]:
    """One connection per answer; after the last it is dead. Reborn: each time as another daemon."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        for number, answer in enumerate(answers):
            sock, _ = listener.accept()
            with sock, sock.makefile("rb") as lines:
                lines.readline()
                sock.sendall(hello.replace(b'"i"', b'"%d"' % number) if reborn else hello)
                if lines.readline():
                    sock.sendall(answer)
        listener.close()

    thread = threading.Thread(target=serve)
    thread.start()
    with Guest("127.0.0.1", listener.getsockname()[1], "token", connect_timeout=1) as guest:
        yield guest
    thread.join()


def run(guest: Guest) -> object:
    return guest.exec(["true"], output_limit=1000)


def answer(**fields: object) -> bytes:
    return json.dumps({"ok": True, "sizes": [0, 0]} | fields).encode() + b"\n"


GOOD = {"returncode": 0, "timed_out": False, "truncated": [False, False]}


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\n",
        b"null\n",
        b"[" * 50_000 + b"\n",
        b"x" * 200_000,
        answer(),
        answer(**GOOD | {"sizes": None}),
        answer(**GOOD | {"sizes": [0]}),
        answer(**GOOD | {"sizes": [0, 0, 0]}),
        answer(**GOOD | {"sizes": [-1, 0]}),
        answer(**GOOD | {"sizes": [True, 0]}),
        answer(**GOOD | {"sizes": [1001, 0]}),
        answer(**GOOD | {"sizes": [1 << 60, 0]}),
        answer(**GOOD | {"sizes": [10, 0]}) + b"short",
        answer(**GOOD | {"returncode": "0"}),
        answer(**GOOD | {"returncode": True}),
        answer(**GOOD | {"timed_out": 0}),
    ],
)
def test_it_takes_nonsense_for_a_dead_machine(line: bytes) -> None:
    with guest_that_says(line) as guest, pytest.raises(Gone):
        run(guest)


def test_it_takes_the_good_answer_that_the_bad_ones_are_made_from() -> None:
    with guest_that_says(answer(**GOOD | {"sizes": [2, 1]}) + b"abc") as guest:
        result = guest.exec(["true"])
    assert (result.stdout, result.stderr) == (b"ab", b"c")


@pytest.mark.parametrize("truncated", [[True, False], [], ["no"], [False] * 3])
def test_it_believes_no_output_that_is_not_said_to_be_whole(truncated: list[object]) -> None:
    with guest_that_says(answer(**GOOD | {"truncated": truncated})) as guest, pytest.raises(OutputLimit):
        run(guest)


@pytest.mark.parametrize(
    "hello", [b"", b"{}\n", b'{"ok": true, "sizes": []}\n', b'{"ok": 1, "sizes": []}\n', b"SSH-2.0\n"]
)
def test_it_does_not_greet_strangers(hello: bytes) -> None:
    with guest_that_says(b"", hello=hello) as guest, pytest.raises((Gone, Refused)):
        guest.ping()


def test_it_shows_reasons_without_control_characters() -> None:
    line = json.dumps({"ok": False, "error": "failed", "message": "\x1b[31m" + "x" * 10_000, "sizes": []}).encode()
    with guest_that_says(line + b"\n") as guest, pytest.raises(Refused) as caught:
        run(guest)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize("entries", ["{}", "[1]", '[{"name": 1}]', "[" * 50_000, ""])
def test_it_believes_no_false_listing(entries: str) -> None:
    line = json.dumps({"ok": True, "truncated": False, "sizes": [len(entries)]}).encode() + b"\n"
    with guest_that_says(line + entries.encode()) as guest, pytest.raises(Gone):
        guest.list_dir("/")


def test_it_does_not_wait_for_ever() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        guest = Guest("127.0.0.1", silent.getsockname()[1], "token", connect_timeout=0.2)
        with pytest.raises(Gone, match="in time"):
            guest.ping()
        with pytest.raises(Gone, match=r"0\.3 seconds"):
            guest.wait_until_ready(0.3)


@pytest.mark.parametrize(
    ("ask", "again"),
    [
        (lambda guest: guest.ping(), True),
        (lambda guest: guest.exec(["true"], op_id="1"), True),
        (lambda guest: guest.exec(["true"]), False),
        (lambda guest: guest.bash("true"), False),
    ],
)
def test_it_repeats_only_what_is_safe_to_repeat(ask: Callable[[Guest], object], again: bool) -> None:
    refusal = json.dumps({"ok": False, "error": "failed", "message": "asked again", "sizes": []}).encode() + b"\n"
    with guest_that_says(b"", refusal) as guest:
        with pytest.raises(SandboxError) as caught:
            ask(guest)
        assert ("asked again" in str(caught.value)) is again
        if not again:
            with pytest.raises(Refused):
                guest.ping()


def test_it_does_not_ask_a_new_daemon_again_that_forgot_what_was_done() -> None:
    with guest_that_says(b"", b"", reborn=True) as guest, pytest.raises(Gone, match="may or may not"):
        guest.exec(["true"], op_id="1")


@given(st.binary())
def test_it_reads_any_header_line_or_says_why_not(line: bytes) -> None:
    with suppress(Malformed):
        assert isinstance(parse_header(line), dict)
    with suppress(Gone):
        assert isinstance(parse(line), dict)


@given(json_values)
def test_it_takes_objects_only(value: object) -> None:
    line = json.dumps(value).encode()
    if isinstance(value, dict):
        assert parse_header(line).keys() == value.keys() == parse(line).keys()
        return
    with pytest.raises(Malformed):
        parse_header(line)
    with pytest.raises(Gone):
        parse(line)
