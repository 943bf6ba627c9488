"""Each machine's own network namespace: a veth pair of two addresses and, by default, no way out. Needs root."""

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

from ..errors import Unavailable
from ..host import Host
from . import records
from .commands import attempt, ip, run
from .firewall import group
from .nameserver import nameserver_address
from .policy import Policy
from .records import LINK_PREFIX, Record

ADDRESS_LOCK = Path("/run/lock/godhand-addresses.lock")
NAMESPACES = Path("/run/netns")
OFF = Policy()


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
    """Machines that have a namespace or a way out on this host, by this installation."""
    prefix = namespace_name(host, "")
    spaces = NAMESPACES.iterdir() if NAMESPACES.is_dir() else ()
    found = {path.name.removeprefix(prefix) for path in spaces if path.name.startswith(prefix)}
    yield from found | records.ids(host)


def connect(host: Host, machine_id: str, policy: Policy = OFF) -> Link:
    """The policy holds from the next `ensure_firewall` on; until then everything is closed.

    Raises Unavailable when the address range is used up or clashes with the host's own routes.
    """
    namespace = namespace_name(host, machine_id)
    outside = f"{LINK_PREFIX}{machine_id}"
    with _address_lock():
        ours, theirs = _free_pair(host)
        ip(
            f"netns add {namespace}",
            f"link add {outside} group {group(host)} type veth peer name eth0 netns {namespace}",
            f"link set {outside} addrgenmode none",
            f"addr add {ours}/31 dev {outside}",
            f"link set {outside} up",
        )
    # gVisor takes over what it finds here when it starts, and looks only once.
    way_out = [f"route add default via {ours} dev eth0"] if policy.mode != "off" else []
    ip(f"addr add {theirs}/31 dev eth0", "link set eth0 up", "link set lo up", *way_out, namespace=namespace)
    if policy.mode != "off":
        records.write(host, Record(machine_id, str(ours), str(theirs), policy))
    return Link(namespace, str(ours), str(theirs))


def reconnect(host: Host, machine_id: str, policy: Policy = OFF) -> Link:
    """A fresh namespace: gVisor takes the addresses off the old one, so it serves one start only."""
    if _is_there(host, machine_id):
        disconnect(host, machine_id)
    return connect(host, machine_id, policy)


def disconnect(host: Host, machine_id: str) -> None:
    """Its rules in the firewall match nothing any more and go with the next `ensure_firewall`."""
    attempt("ip", "link", "del", f"{LINK_PREFIX}{machine_id}")
    attempt("ip", "netns", "del", namespace_name(host, machine_id))
    records.remove(host, machine_id)


def _is_there(host: Host, machine_id: str) -> bool:
    """Asked without a process, for nearly always the answer is no."""
    known = machine_id in records.ids(host)
    return known or namespace_path(namespace_name(host, machine_id)).exists() or _link_of(machine_id).exists()


def _link_of(machine_id: str) -> Path:
    return Path("/sys/class/net") / f"{LINK_PREFIX}{machine_id}"


@contextmanager
def _address_lock() -> Iterator[None]:
    ADDRESS_LOCK.parent.mkdir(exist_ok=True)
    with ADDRESS_LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _free_pair(host: Host) -> tuple[IPv4Address, IPv4Address]:
    taken = {nameserver_address(host)}
    for link in json.loads(run(["ip", "-j", "-4", "addr"])):
        for address in link["addr_info"]:
            network = IPv4Network(f"{address['local']}/{address['prefixlen']}", strict=False)
            mine = address.get("label", link["ifname"]).removeprefix("lo:").startswith(LINK_PREFIX)
            if not mine and network.overlaps(host.subnet):
                raise Unavailable(
                    f"Machine addresses {host.subnet} overlap {network} on {link['ifname']}: "
                    "set GODHAND_SUBNET to a free range."
                )
            taken.add(network.network_address)
    for pair in host.subnet.subnets(new_prefix=31):
        if pair.network_address not in taken:
            return pair[0], pair[1]
    raise Unavailable(f"All addresses of {host.subnet} are in use: destroy machines or widen GODHAND_SUBNET.")
