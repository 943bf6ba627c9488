"""The byte stream to a VNC server: exact reads without copies, whole writes, and Gone for every ending."""

import math
import select
import socket
import struct
import threading
import time
from contextlib import suppress
from typing import Any

from ..errors import Gone
from ..lifeline import NO_LIFELINE, Lifeline

TIMEOUT = 5.0
"""Seconds a server may take over a message it has begun, or over an answer it owes."""

PULSE = 0.5
"""Seconds after which a reader in the middle of a message looks whether the machine still lives."""

_BUFFER = 64 * 1024


class Wire:
    """Reads belong to one thread; writes may come from any. The lifeline is closed with the socket."""

    def __init__(
        self, sock: socket.socket, timeout: float = TIMEOUT, lifeline: Lifeline = NO_LIFELINE, ends: float = math.inf
    ) -> None:
        """`ends`, by the monotonic clock, is when reading stops, however busily the server goes on."""
        self.timeout, self.ends = timeout, ends
        sock.settimeout(None)
        for option, seconds in ((socket.SO_RCVTIMEO, min(PULSE, timeout)), (socket.SO_SNDTIMEO, timeout)):
            sock.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", int(seconds), int(seconds % 1 * 1e6)))
        self._sock, self._lifeline = sock, lifeline
        self._view = memoryview(bytearray(_BUFFER))
        self._start = self._end = 0
        self._sending = threading.Lock()

    @classmethod
    def connect(cls, host: str, port: int, lifeline: Lifeline = NO_LIFELINE, ends: float = math.inf) -> "Wire":
        try:
            return cls(lifeline.connect(host, port, TIMEOUT), lifeline=lifeline, ends=ends)
        except OSError as error:
            lifeline.close()
            raise Gone(f"No screen answers at {host}:{port}: {error}.") from error
        except BaseException:
            lifeline.close()
            raise

    def wait(self) -> None:
        """Block, for however long, until there is something to read or the stream has ended."""
        if self._start == self._end:
            self._lifeline.wait(self._sock, select.POLLIN, None)

    def ready(self, timeout: float) -> bool:
        """Whether there is something to read by then, or the stream has ended."""
        return self._start != self._end or self._lifeline.wait(self._sock, select.POLLIN, timeout)

    @property
    def port(self) -> int:
        """On our side."""
        return int(self._sock.getsockname()[1])

    def read(self, size: int) -> memoryview:
        """The next few bytes, valid until the next read."""
        if self._start + size > _BUFFER:
            rest = self._end - self._start
            self._view[:rest] = bytes(self._view[self._start : self._end])
            self._start, self._end = 0, rest
        while self._end - self._start < size:
            self._end += self._receive(self._view[self._end :])
        taken = self._view[self._start : self._start + size]
        self._start += size
        if self._start == self._end:
            self._start = self._end = 0
        return taken

    def unpack(self, layout: struct.Struct) -> tuple[Any, ...]:
        return layout.unpack(self.read(layout.size))

    def read_into(self, target: memoryview) -> None:
        done = min(self._end - self._start, len(target))
        target[:done] = self._view[self._start : self._start + done]
        self._start += done
        while done < len(target):
            done += self._receive(target[done:], socket.MSG_WAITALL)

    def skip(self, size: int) -> None:
        while size:
            step = min(size, _BUFFER)
            self.read(step)
            size -= step

    def send(self, data: bytes) -> None:
        try:
            with self._sending:
                self._sock.sendall(data)
        except OSError as error:
            raise Gone(f"The screen's connection broke: {error}.") from error

    def close(self) -> None:
        """Also wakes a reader that waits in another thread."""
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)

    def release(self) -> None:
        self._sock.close()
        self._lifeline.close()

    def _receive(self, view: memoryview, flags: int = 0) -> int:
        """The kernel keeps the time and fills the view: with Python's own timeouts it would wake for every packet."""
        now = time.monotonic()
        if now >= self.ends:
            raise Gone("The screen did not come to an end.")
        deadline = min(now + self.timeout, self.ends)
        try:
            while (received := self._receive_for_a_pulse(view, flags)) is None:
                self._lifeline.wait(self._sock, select.POLLIN, 0)
                if time.monotonic() >= deadline:
                    raise Gone(f"The screen stopped in the middle of a message for {self.timeout:g} s.")
        except OSError as error:
            raise Gone(f"The screen's connection broke: {error}.") from error
        if not received:
            raise Gone("The screen closed the connection.")
        return received

    def _receive_for_a_pulse(self, view: memoryview, flags: int) -> int | None:
        try:
            return self._sock.recv_into(view, len(view), flags)
        except BlockingIOError:
            return None
