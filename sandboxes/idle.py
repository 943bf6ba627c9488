"""Who is in touch with which machine now, as the host's kernel sees it: a watcher, a driver, a worker, anybody."""

import socket
import struct
from collections.abc import Container
from pathlib import Path

ESTABLISHED = "01"


def connected_addresses(table: Path = Path("/proc/net/tcp"), besides: Container[int] = ()) -> set[str]:
    """The far ends of this host's established connections, but for those from the ports `besides`."""
    rows = (line.split() for line in table.read_text().splitlines()[1:])
    counted = (row for row in rows if row[3] == ESTABLISHED and int(row[1].partition(":")[2], 16) not in besides)
    return {_address(row[2].partition(":")[0]) for row in counted}


def _address(hexadecimal: str) -> str:
    return socket.inet_ntoa(struct.pack("=I", int(hexadecimal, 16)))
