"""Addresses that allowed names have led to, kept in the firewall for as long as the answer is good."""

import json
from collections.abc import Iterable
from ipaddress import IPv4Address

from ..host import Host
from .commands import attempt, nft
from .records import Record, locked

LEAST_SECONDS = 60
MOST_SECONDS = 3600
GRACE_SECONDS = 60
CAPACITY = 4096


def anywhere(machine_id: str) -> str:
    return f"n_{machine_id}"


def on_ports(machine_id: str) -> str:
    return f"p_{machine_id}"


def pin(host: Host, record: Record, addresses: Iterable[IPv4Address], ports: set[int | None], ttl: int) -> None:
    """Programs keep an answer for a minute even when told not to, so the pin outlives short answers."""
    seconds = min(max(ttl, LEAST_SECONDS), MOST_SECONDS) + GRACE_SECONDS
    lines = []
    for address in addresses:
        for port in ports:
            name = on_ports(record.id) if port else anywhere(record.id)
            element = f"{address} . {port}" if port else f"{address}"
            place = f"element {table(host)} {name}"
            # Older kernels do not prolong an element that is there already.
            lines += [f"add {place} {{ {element} }}", f"delete {place} {{ {element} }}"]
            lines += [f"add {place} {{ {element} timeout {seconds}s }}"]
    with locked(host):
        nft("\n".join(lines))


def pinned(host: Host) -> dict[str, list[str]]:
    """Elements of every set of pins, as nft takes them back, with the seconds they have left."""
    listed = attempt("nft", "-j", "list", "table", *table(host).split())
    entries = json.loads(listed)["nftables"] if listed else []
    sets = [entry["set"] for entry in entries if "set" in entry]
    return {found["name"]: [_element(item) for item in found.get("elem", ())] for found in sets if _ours(found)}


def table(host: Host) -> str:
    return f"inet godhand_{host.instance}"


def _ours(found: dict[str, object]) -> bool:
    return str(found["name"]).startswith(("n_", "p_"))


def _element(item: dict[str, dict[str, object]]) -> str:
    value = item["elem"]["val"]
    key = " . ".join(map(str, value["concat"])) if isinstance(value, dict) else str(value)
    return f"{key} timeout {item['elem'].get('timeout', 1)}s expires {item['elem'].get('expires', 1)}s"
