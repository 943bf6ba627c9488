"""The gate's listening process. Each connection is served by a process forked for it."""

import ctypes
import logging
import multiprocessing
import os
import signal
import socket
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from types import FrameType

from websockify.websocketproxy import WebSocketProxy

from ..errors import Unavailable
from .handler import GateHandler, Target
from .tickets import Ticket

__all__ = ["Authorize", "Target", "serve"]

Authorize = Callable[[Ticket, Mapping[str, str]], Target | None]
"""From a redeemed ticket and the browser's cookies to the machine, or None. Called in the connection's process."""

_FULL = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
_PR_SET_PDEATHSIG = 1


def serve(
    listen_host: str,
    port: int,
    redis_url: str,
    *,
    allowed_origins: Callable[[str], bool] | Collection[str],
    authorize: Authorize,
    most_connections: int = 64,
) -> None:
    """Until SIGTERM or SIGINT. Raises Unavailable when the port cannot be had."""
    allowed = allowed_origins if callable(allowed_origins) else allowed_origins.__contains__
    with _listen(listen_host, port) as listener:
        Gate(listener, redis_url, allowed, authorize, most_connections).start_server()


class Gate(WebSocketProxy):  # type: ignore[misc]
    def __init__(
        self,
        listener: socket.socket,
        redis_url: str,
        origin_allowed: Callable[[str], bool],
        authorize: Authorize,
        most_connections: int,
    ) -> None:
        self.redis_url = redis_url
        self.origin_allowed = origin_allowed
        self.authorize = authorize
        self._most_connections = most_connections
        self._connections = 0
        self._pid = os.getpid()
        super().__init__(GateHandler, listen_fd=listener.fileno())

    @staticmethod
    def get_logger() -> logging.Logger:
        """websockify tells more than anybody wants to know; what matters is logged by the handler."""
        logger = logging.getLogger("sandboxes.gate.websockify")
        logger.setLevel(logging.WARNING)
        return logger

    def poll(self) -> None:
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        self._connections = len(multiprocessing.active_children())
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})

    def multiprocessing_SIGCHLD(self, _signal: int, _frame: FrameType | None) -> None:  # noqa: N802
        self._connections = len(multiprocessing.active_children())

    def top_new_client(self, startsock: socket.socket, address: object) -> None:
        """Runs in the child."""
        self._be_a_child()
        if self._connections < self._most_connections:
            super().top_new_client(startsock, address)
        else:
            _refuse(startsock)

    def _be_a_child(self) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != self._pid:
            os._exit(1)


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise Unavailable(
            f"The gate cannot listen on {host}:{port} ({error.strerror}): set GODHAND_GATE_PORT to a free one."
        ) from error


def _refuse(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.settimeout(1)
        sock.sendall(_FULL)
        sock.shutdown(socket.SHUT_WR)
        sock.recv(65536)
