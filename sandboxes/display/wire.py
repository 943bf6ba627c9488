"""The byte stream to a VNC server: exact reads without copies, whole writes, and Gone for every ending."""

import select
import socket
import struct
import threading
from contextlib import suppress
from typing import Any

from ..errors import Gone

TIMEOUT = 5.0
"""Seconds a server may take over a message it has begun, or over an answer it owes."""

_BUFFER = 64 * 1024


class Wire:
    """Reads belong to one thread; writes may come from any."""

    def __init__(self, sock: socket.socket, timeout: float = TIMEOUT) -> None:
        self.timeout = timeout
        sock.settimeout(None)
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            sock.setsockopt(socket.SOL_SOCKET, option, struct.pack("ll", int(timeout), int(timeout % 1 * 1e6)))
        if sock.family in (socket.AF_INET, socket.AF_INET6):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._sock = sock
        self._view = memoryview(bytearray(_BUFFER))
        self._start = self._end = 0
        self._sending = threading.Lock()

    @classmethod
    def connect(cls, host: str, port: int) -> "Wire":
        try:
            return cls(socket.create_connection((host, port), TIMEOUT))
        except OSError as error:
            raise Gone(f"No screen answers at {host}:{port}: {error}.") from error

    def wait(self) -> None:
        """Block, for however long, until there is something to read or the stream has ended."""
        if self._start == self._end:
            poll = select.poll()
            poll.register(self._sock, select.POLLIN)
            poll.poll()

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

    def _receive(self, view: memoryview, flags: int = 0) -> int:
        """The kernel keeps the time and fills the view: with Python's own timeouts it would wake for every packet."""
        try:
            received = self._sock.recv_into(view, len(view), flags)
        except BlockingIOError as error:
            raise Gone(f"The screen stopped in the middle of a message for {self.timeout:g} s.") from error
        except OSError as error:
            raise Gone(f"The screen's connection broke: {error}.") from error
        if not received:
            raise Gone("The screen closed the connection.")
        return received
