"""Lets packets through the host, on the interfaces that need it and no others.

The kernel asks the interface at which a packet arrives: a machine's link, and the way out for what comes back. Where
the host's owner has not made it a router, it must not become one for its neighbours: what comes in by the way out
and is not for a machine is dropped by the firewall, and the way out is closed again when no machine needs it.
"""

import fcntl
import json
import os
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..host import Host
from .commands import attempt
from .records import Record

SETTINGS = Path("/proc/sys/net/ipv4")
OPENED = Path("/run/godhand/forwarding")
"""A directory for each way out that was closed before, and in it a file for each installation that needs it."""


def ensure_forwarding(host: Host, records: Iterable[Record]) -> None:
    links = [record.interface for record in records]
    ways = uplinks() if links else set()
    for link in links:
        _switch(link, on=True)
    for way in ways:
        _open(host, way)
    # Between two leases of its address a host has none for a moment.
    if ways or not links:
        close_ways(host, but=ways)


def close_ways(host: Host, but: Container[str] = ()) -> None:
    """Those that we have opened, unless another installation needs them or the host was made a router since."""
    for claim in OPENED.glob(f"*/{host.instance}"):
        way = claim.parent
        if way.name not in but:
            with _alone():
                claim.unlink(missing_ok=True)
                if way.is_dir() and not any(way.iterdir()):
                    if not _is_router():
                        _switch(way.name, on=False)
                    way.rmdir()


def uplinks() -> set[str]:
    routes = json.loads(attempt("ip", "-j", "-4", "route", "show", "default") or "[]")
    return {route["dev"] for route in routes if "dev" in route}


def guarded_uplinks() -> set[str]:
    return set() if _is_router() else uplinks()


def _open(host: Host, way: str) -> None:
    """One that is open by its owner's will is nobody's to close."""
    OPENED.mkdir(parents=True, exist_ok=True)
    with _alone():
        if (OPENED / way).is_dir() or not _is_on(way):
            (OPENED / way).mkdir(exist_ok=True)
            (OPENED / way / host.instance).touch()
            _switch(way, on=True)


@contextmanager
def _alone() -> Iterator[None]:
    descriptor = os.open(OPENED, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _is_router() -> bool:
    """By its owner's will."""
    return (SETTINGS / "ip_forward").read_text().strip() == "1"


def _is_on(interface: str) -> bool:
    return _setting(interface).exists() and _setting(interface).read_text().strip() == "1"


def _switch(interface: str, *, on: bool) -> None:
    """Where it is as wanted nothing is written: some hosts have settings that cannot be."""
    if _setting(interface).exists() and _is_on(interface) != on:
        _setting(interface).write_text(str(int(on)))


def _setting(interface: str) -> Path:
    return SETTINGS / "conf" / interface / "forwarding"
