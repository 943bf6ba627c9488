"""Lets packets through the host, on the interfaces that need it and no others.

The kernel asks the interface at which a packet arrives: a machine's link, and the way out for what comes back. Where
the host's owner has not made it a router, it must not become one for its neighbours: what comes in by the way out
and is not for a machine is dropped by the firewall.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from .commands import attempt
from .records import Record

SETTINGS = Path("/proc/sys/net/ipv4")


def ensure_forwarding(records: Iterable[Record]) -> None:
    links = [record.interface for record in records]
    for name in [*links, *uplinks()] if links else ():
        switch = SETTINGS / "conf" / name / "forwarding"
        if switch.exists() and switch.read_text().strip() != "1":
            switch.write_text("1")


def uplinks() -> set[str]:
    routes = json.loads(attempt("ip", "-j", "-4", "route", "show", "default") or "[]")
    return {route["dev"] for route in routes if "dev" in route}


def guarded_uplinks() -> set[str]:
    """None where the host is a router by its owner's will."""
    return set() if (SETTINGS / "ip_forward").read_text().strip() == "1" else uplinks()
