"""Ports that stay free until a test's own server takes them."""

import os
import socket
from contextlib import suppress
from itertools import cycle

FIRST, SHARE = 12_000, 2_000
"""Below those that the kernel gives to whoever connects; every process of the suite goes through its own in turn."""

_process = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
_turn = cycle(range(FIRST + _process * SHARE, FIRST + (_process + 1) * SHARE))
for _ in range(os.getpid() % SHARE):
    next(_turn)


def free_port() -> int:
    return next(port for port in _turn if _is_free(port))


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return True
    return False
