"""One authenticated connection to a guest. Whatever comes back is taken to be written by an attacker."""

import io
import json
import select
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from ..errors import Gone, Refused
from ..fence import Guard
from ..lifeline import NO_LIFELINE, Lifeline

Header = dict[str, Any]
T = TypeVar("T", str, int, float, bool, list[Any], dict[str, Any])
HEADER_LIMIT = 64 << 10
SLOWEST = 1 << 20  # bytes per second that a body is allowed at least


class Dropped(Gone):
    """The connection ended before an answer began."""


def field(header: Header, name: str, kind: type[T]) -> T:
    value = header.get(name)
    if kind is float and type(value) is int:
        value = float(value) if abs(value) < 1 << 60 else None
    if type(value) is not kind:
        raise Gone(f"The machine's guest gave an answer without a proper “{name}”.")
    return value


def parse(line: bytes) -> Header:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        raise Gone("The machine's guest gave an answer that is not JSON.") from None
    if not isinstance(header, dict):
        raise Gone("The machine's guest gave an answer that is not an object.")
    return header


def readable(text: object) -> str:
    shown = text[:500] if isinstance(text, str) else "no reason given"
    return "".join(character if character.isprintable() else "?" for character in shown)


class Connection:
    def __init__(
        self,
        host: str,
        port: int,
        token: str,
        *,
        connect_timeout: float,
        hello_timeout: float,
        lifeline: Lifeline = NO_LIFELINE,
        guard: Guard = nullcontext,
    ) -> None:
        """Raises Gone, and Refused for a wrong token. The lifeline is closed with the connection."""
        self._answer, self._lifeline, self._guard = bytearray(), lifeline, guard
        try:
            self._socket = lifeline.connect(host, port, connect_timeout)
        except OSError as error:
            lifeline.close()
            raise Gone(f"The machine does not answer ({error.strerror}).") from None
        except BaseException:
            lifeline.close()
            raise
        try:
            hello, _ = self.request({"token": token}, b"", hello_timeout, [])
            if hello.get("ok") is not True:
                raise Refused(f"The machine refused: {readable(hello.get('message'))}")
            self.instance = field(hello, "instance", str)
        except BaseException:
            self.close()
            raise

    def is_stale(self) -> bool:
        """Nothing is ever sent unasked, so anything to read on an idle connection is its end."""
        return self._socket.fileno() < 0 or self.has_spoken()

    def has_spoken(self) -> bool:
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        return bool(poller.poll(0))

    def request(self, header: Header, body: bytes, timeout: float, limits: Sequence[int]) -> tuple[Header, list[bytes]]:
        """The answer and its parts, which are as many as there are limits and not larger. Raises Gone."""
        self.send(header, body, timeout + len(body) / SLOWEST)
        answer, sizes = self.answer(time.monotonic() + timeout, limits)
        return answer, [self._part(size) for size in sizes]

    def send(self, header: Header, body: bytes, timeout: float) -> None:
        """Raises Taken before the first byte. What is on its way then is stopped by the machine's new token."""
        with self._guard():
            pass
        line = json.dumps(header).encode() + b"\n"
        deadline = time.monotonic() + max(timeout, 0.001)
        with self._closing():
            for data in (line + body,) if len(body) < 64 << 10 else (line, body):
                left = memoryview(data)
                while left:
                    self._wait(select.POLLOUT, deadline)
                    left = left[self._socket.send(left) :]

    def answer(self, deadline: float, limits: Sequence[int]) -> tuple[Header, list[int]]:
        """The answer's header and the sizes of its parts, which the caller has to take next."""
        with self._closing():
            answer = self._header(deadline)
            sizes = field(answer, "sizes", list)
            if len(sizes) != (len(limits) if answer.get("ok") is True else 0):
                raise Gone("The machine's guest gave an answer of another shape than asked for.")
            for size, limit in zip(sizes, limits, strict=False):
                if type(size) is not int or not 0 <= size <= limit:
                    raise Gone("The machine's guest announced more bytes than allowed.")
            return answer, sizes

    def pieces(self, size: int, deadline: float) -> Iterator[bytes]:
        """A part of an answer, as it comes."""
        left = size
        while left:
            with self._closing():
                piece = bytes(self._answer[:left])
                del self._answer[: len(piece)]
                try:
                    piece = piece or self._receive(min(left, 256 << 10), deadline)
                except Dropped:
                    raise Gone("The connection to the machine broke in the middle of an answer.") from None
            left -= len(piece)
            yield piece

    def _part(self, size: int) -> bytes:
        part = io.BytesIO()
        for piece in self.pieces(size, time.monotonic() + 30 + size / SLOWEST):
            part.write(piece)
        return part.getvalue()

    @contextmanager
    def _closing(self) -> Iterator[None]:
        """Whatever goes wrong on a connection is its end, and Gone."""
        try:
            yield
        except TimeoutError:
            self.close()
            raise Gone("The machine's guest did not answer in time.") from None
        except OSError as error:
            self.close()
            raise Dropped(f"The connection to the machine broke ({error.strerror}).") from None
        except Gone:
            self.close()
            raise

    def _receive(self, size: int, deadline: float) -> bytes:
        self._wait(select.POLLIN, deadline)
        data = self._socket.recv(size)
        if not data:
            raise Dropped("The connection to the machine broke.")
        return data

    def _wait(self, events: int, deadline: float) -> None:
        left = deadline - time.monotonic()
        if left <= 0 or not self._lifeline.wait(self._socket, events, left):
            raise TimeoutError

    def _header(self, deadline: float) -> Header:
        while (end := self._answer.find(b"\n")) < 0:
            if len(self._answer) > HEADER_LIMIT:
                raise Gone("The machine's guest gave an answer without an end.")
            self._answer += self._receive(HEADER_LIMIT, deadline)
        line = bytes(self._answer[:end])
        del self._answer[: end + 1]
        return parse(line)

    def close(self) -> None:
        self._socket.close()
        self._lifeline.close()
