"""Each machine's own network namespace: a veth pair of two addresses and, by default, no way out.

The firewall closes both sides: a machine reaches nothing on its host or beyond it, and on the host only root and
the product's own user reach a machine. Everything here needs root.
"""

import fcntl
import json
import os
import pwd
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from .errors import Unavailable
from .host import Host

SERVICE_USER = "godhand"
LINK_PREFIX = "ghv"
ADDRESS_LOCK = Path("/run/lock/godhand-addresses.lock")
NAMESPACES = Path("/run/netns")


@dataclass(frozen=True)
class Link:
    """One end on the host, the other as `eth0` in the machine's namespace."""

    namespace: str
    host_address: str
    address: str


def namespace_name(host: Host, machine_id: str) -> str:
    return f"gh-{host.instance}-{machine_id}"


def namespace_path(namespace: str) -> Path:
    return NAMESPACES / namespace


def owned_ids(host: Host) -> Iterator[str]:
    """Machines that have a namespace on this host, by this installation."""
    prefix = namespace_name(host, "")
    if NAMESPACES.is_dir():
        yield from (path.name.removeprefix(prefix) for path in NAMESPACES.iterdir() if path.name.startswith(prefix))


def connect(host: Host, machine_id: str) -> Link:
    """Raises Unavailable when the address range is used up or clashes with the host's own routes."""
    namespace = namespace_name(host, machine_id)
    outside = f"{LINK_PREFIX}{machine_id}"
    with _address_lock():
        ours, theirs = _free_pair(host.subnet)
        _ip(
            f"netns add {namespace}",
            f"link add {outside} type veth peer name eth0 netns {namespace}",
            f"addr add {ours}/31 dev {outside}",
            f"link set {outside} up",
        )
    _ip(f"addr add {theirs}/31 dev eth0", "link set eth0 up", "link set lo up", namespace=namespace)
    return Link(namespace, str(ours), str(theirs))


def reconnect(host: Host, machine_id: str) -> Link:
    """A fresh namespace: gVisor takes the addresses off the old one, so it serves one start only."""
    disconnect(host, machine_id)
    return connect(host, machine_id)


def disconnect(host: Host, machine_id: str) -> None:
    for arguments in (
        ["link", "del", f"{LINK_PREFIX}{machine_id}"],
        ["netns", "del", namespace_name(host, machine_id)],
    ):
        subprocess.run(["ip", *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False)


@contextmanager
def _address_lock() -> Iterator[None]:
    with ADDRESS_LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _free_pair(subnet: IPv4Network) -> tuple[IPv4Address, IPv4Address]:
    taken = set()
    for link in json.loads(_run(["ip", "-j", "-4", "addr"])):
        mine = link["ifname"].startswith(LINK_PREFIX)
        for address in link["addr_info"]:
            network = IPv4Network(f"{address['local']}/{address['prefixlen']}", strict=False)
            if not mine and network.overlaps(subnet):
                raise Unavailable(
                    f"Machine addresses {subnet} overlap {network} on {link['ifname']}: "
                    "set GODHAND_SUBNET to a free range."
                )
            taken.add(network.network_address)
    for pair in subnet.subnets(new_prefix=31):
        if pair.network_address not in taken:
            return pair[0], pair[1]
    raise Unavailable(f"All addresses of {subnet} are in use: destroy machines or widen GODHAND_SUBNET.")


def ensure_firewall(host: Host) -> None:
    """Replaces our own table in one transaction, so that it also heals a flushed one."""
    table = f"inet godhand_{host.instance}"
    users = ", ".join({"0", str(_service_uid())})
    _run(
        ["nft", "-f", "-"],
        f"""
        table {table} {{}}
        delete table {table}
        table {table} {{
          chain input {{
            type filter hook input priority filter - 5;
            iifname "{LINK_PREFIX}*" ct state established,related accept
            iifname "{LINK_PREFIX}*" drop
          }}
          chain forward {{
            type filter hook forward priority filter - 5;
            iifname "{LINK_PREFIX}*" drop
            oifname "{LINK_PREFIX}*" drop
          }}
          chain output {{
            type filter hook output priority filter - 5;
            oifname "{LINK_PREFIX}*" meta skuid != {{ {users} }} drop
          }}
        }}
        """,
    )


def remove_firewall(host: Host) -> None:
    arguments = ["nft", "delete", "table", "inet", f"godhand_{host.instance}"]
    subprocess.run(arguments, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def _service_uid() -> int:
    try:
        return pwd.getpwnam(SERVICE_USER).pw_uid
    except KeyError:
        return os.geteuid()


def _ip(*lines: str, namespace: str | None = None) -> None:
    within = ["-n", namespace] if namespace else []
    _run(["ip", *within, "-batch", "-"], "\n".join(lines))


def _run(argv: list[str], stdin: str = "") -> str:
    result = subprocess.run(argv, input=stdin, capture_output=True, text=True, check=False)
    if result.returncode:
        raise Unavailable(
            f"“{' '.join(argv[:3])}” failed on this host: {result.stderr.strip() or result.stdout.strip()}"
        )
    return result.stdout
