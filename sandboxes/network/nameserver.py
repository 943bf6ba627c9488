"""The address at which an installation's machines ask for names. It stays the same, as snapshots remember it."""

from ipaddress import IPv4Address

from ..host import Host
from .commands import attempt, ip
from .records import LINK_PREFIX


def nameserver_address(host: Host) -> IPv4Address:
    """From the upper end of the range, apart from that of other installations which share it."""
    pairs = host.subnet.num_addresses // 8
    return host.subnet.broadcast_address - 1 - 2 * (int(host.instance, 16) % pairs)


def ensure_nameserver_address(host: Host) -> None:
    """On the loopback interface: no other kind is in every kernel, and nobody outside learns of it there."""
    ip(f"addr replace {nameserver_address(host)}/32 dev lo label lo:{LINK_PREFIX}{host.instance}")


def remove_nameserver_address(host: Host) -> None:
    attempt("ip", "addr", "del", f"{nameserver_address(host)}/32", "dev", "lo")
