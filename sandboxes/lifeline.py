"""Waiting for a machine, but never for a dead one."""

import errno
import os
import select
import socket

from .errors import Ended


class Lifeline:
    """Of a machine's own process on its host: who waits for an answer knows at once that none will come.

    Without a descriptor, which becomes readable when that process ends, only time tells.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = descriptor

    def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def wait(self, sock: socket.socket, events: int, timeout: float | None) -> bool:
        """False when time is up. Raises Ended when the machine has ended and left nothing to be read."""
        poll = select.poll()
        poll.register(sock, events)
        if self._descriptor is not None:
            poll.register(self._descriptor, select.POLLIN)
        ready = [descriptor for descriptor, _ in poll.poll(None if timeout is None else max(0.0, timeout) * 1000)]
        if ready == [self._descriptor]:
            raise Ended("The machine has ended.")
        return bool(ready)

    def connect(self, host: str, port: int, timeout: float) -> socket.socket:
        """A socket that does not block. Raises Ended, TimeoutError, OSError."""
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        sock = socket.socket(family, kind, protocol)
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            code = sock.connect_ex(address)
            if code == errno.EINPROGRESS:
                if not self.wait(sock, select.POLLOUT, timeout):
                    raise TimeoutError(errno.ETIMEDOUT, "no answer in time")
                code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if code:
                raise OSError(code, os.strerror(code))
        except BaseException:
            sock.close()
            raise
        return sock


NO_LIFELINE = Lifeline()
