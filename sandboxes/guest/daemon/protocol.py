"""What is said on a connection: lines of JSON with bytes behind them, and what a request may ask."""

import json
import os
import socket
from collections.abc import Iterator
from typing import Any, TypeVar

HEADER_LIMIT, PIECE_LINE_LIMIT, BODY_LIMIT = 8 << 20, 1 << 10, 4 << 30
CHUNK, LONGEST = 256 << 10, 86_400.0
KINDS: dict[type[OSError], str] = {
    FileNotFoundError: "not_found",
    IsADirectoryError: "is_directory",
    NotADirectoryError: "not_directory",
    FileExistsError: "not_directory",
    PermissionError: "permission",
}
Header = dict[str, Any]
Answer = tuple[Header, list[bytes]]
T = TypeVar("T", str, int, float, bool, list[Any], dict[str, Any])


class Hangup(Exception):
    """The other side is gone; nobody is left to answer."""


class Malformed(Exception):
    """What came is not the protocol; the conversation cannot go on."""


class Refusal(Exception):
    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.header: Header = {"ok": False, "error": kind, "message": message[:500]}


def refusal_of(error: OSError) -> Refusal:
    return Refusal(KINDS.get(type(error), "failed"), f"{error.strerror or error}: {error.filename or ''}")


def parse_header(line: bytes) -> Header:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        raise Malformed("A request is one line of JSON.") from None
    if not isinstance(header, dict):
        raise Malformed("A request is a JSON object.")
    return header


def want(header: Header, name: str, kind: type[T], default: T | None = None) -> T:
    value = header.get(name, default)
    if kind is float and isinstance(value, int):
        value = float(min(max(value, -1), 1 << 60))
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Refusal("bad_request", f"“{name}” is missing or not of type {kind.__name__}.")
    return value


def want_between(header: Header, name: str, default: int, most: int) -> int:
    value = want(header, name, int, default)
    if not 0 <= value <= most:
        raise Refusal("bad_request", f"“{name}” must be from 0 to {most}.")
    return value


def want_timeout(header: Header, default: float) -> float:
    seconds = want(header, "timeout", float, default)
    if not 0 < seconds <= LONGEST:
        raise Refusal("bad_request", f"“timeout” must be above 0 and at most {LONGEST:.0f} seconds.")
    return seconds


def is_text(value: object) -> bool:
    """Whether the system can be given it, raising ValueError for characters that no encoding has."""
    return isinstance(value, str) and b"\0" not in os.fsencode(value)


def want_words(header: Header, name: str) -> list[str]:
    words = want(header, name, list)
    if not words or not all(map(is_text, words)):
        raise Refusal("bad_request", f"“{name}” must be a list of at least one text.")
    return words


def want_env(header: Header) -> dict[str, str]:
    env = want(header, "env", dict, {})
    if not all(name and "=" not in name and is_text(name) and is_text(value) for name, value in env.items()):
        raise Refusal("bad_request", "“env” must map names to texts.")
    return env


class Channel:
    """Lines of JSON, each followed by the bytes it announces. Between our own processes descriptors ride along."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.descriptors: list[int] = []
        self._buffer = bytearray()
        self._local = sock.family == socket.AF_UNIX

    def _receive(self, size: int) -> bytes:
        try:
            if self._local:
                data, descriptors, _, _ = socket.recv_fds(self.sock, size, 4)
                for descriptor in descriptors:
                    os.set_inheritable(descriptor, False)
                self.descriptors += descriptors
            else:
                data = self.sock.recv(size)
        except OSError:
            raise Hangup from None
        if not data:
            raise Hangup
        return data

    def header(self, limit: int = HEADER_LIMIT) -> Header:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > limit:
                raise Malformed(f"A header has at most {limit} bytes.")
            self._buffer += self._receive(CHUNK)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return parse_header(line)

    def chunks(self, size: int) -> Iterator[bytes]:
        while size:
            if self._buffer:
                chunk = bytes(self._buffer[:size])
                del self._buffer[:size]
            else:
                chunk = self._receive(min(size, CHUNK))
            size -= len(chunk)
            yield chunk

    def stream(self) -> Iterator[bytes]:
        """Pieces, each announced by a line of its own, until one is announced as empty."""
        left = BODY_LIMIT
        while size := self.header(PIECE_LINE_LIMIT).get("body"):
            if type(size) is not int or not 0 < size <= left:
                raise Malformed(f"A stream has pieces of positive size, and of {BODY_LIMIT} bytes at most in all.")
            left -= size
            yield from self.chunks(size)

    def send(self, header: Header, *parts: bytes, descriptors: tuple[int, ...] = ()) -> None:
        line = json.dumps({"sizes": [len(part) for part in parts]} | header).encode() + b"\n"
        if descriptors:
            line = line[socket.send_fds(self.sock, [line], descriptors) :]
        if len(line) + sum(map(len, parts)) < CHUNK:
            self.sock.sendall(line + b"".join(parts))
            return
        for piece in (line, *parts):
            self.sock.sendall(piece)

    def drop_descriptors(self) -> None:
        while self.descriptors:
            os.close(self.descriptors.pop())

    def close(self) -> None:
        self.drop_descriptors()
        self.sock.close()
