"""The one nftables table of an installation. Closed by default, rebuilt as a whole from the records.

A machine reaches nothing on its host or beyond it but what its policy says, and on the host only root and the
product's own user reach a machine. Connections carry their machine's mark, so that they outlive the pin of the name
they were made by, and none passes for one of a machine that had the address before.
"""

import os
import pwd
from collections.abc import Iterable, Mapping, Sequence

from ..host import Host
from . import pins
from .commands import attempt, nft
from .forwarding import close_ways, ensure_forwarding, guarded_uplinks
from .nameserver import ensure_nameserver_address, nameserver_address, remove_nameserver_address
from .policy import PRIVATE, Entry
from .records import Record, all_records, locked

SERVICE_USER = "godhand"
NAME_PORTS = "{ 53, 853 }"
CLOSED_CHAINS = 2
"""What comes from a machine ends in one of them."""


def group(host: Host) -> int:
    """Of all interfaces of an installation: their names have no room for it."""
    return 0x10000 + int(host.instance, 16)


def ensure_firewall(host: Host) -> None:
    """Replaces our own table in one transaction, so that it also heals a flushed one."""
    ensure_nameserver_address(host)
    with locked(host):
        records = all_records(host)
        kept = pins.pinned(host) if records else {}
        ensure_forwarding(host, records)
        name = pins.table(host)
        nft(f"table {name} {{}}\ndelete table {name}\ntable {name} {{\n{_table(host, records, kept)}\n}}\n")


def ensure_closed(host: Host) -> None:
    """For a new machine without a way out: it needs no rule of its own, so the table that is there keeps it in."""
    if attempt("nft", "list", "table", *pins.table(host).split()).count(f"iifgroup {group(host)} drop") < CLOSED_CHAINS:
        ensure_firewall(host)


def remove_firewall(host: Host) -> None:
    close_ways(host)
    attempt("nft", "delete", "table", *pins.table(host).split())
    remove_nameserver_address(host)


def _table(host: Host, records: Sequence[Record], kept: Mapping[str, list[str]]) -> str:
    ours, names = group(host), nameserver_address(host)
    users = ", ".join({"0", str(_service_uid())})
    return f"""
        set private {{ type ipv4_addr; flags interval; elements = {{ {", ".join(map(str, PRIVATE))} }} }}
        {"".join(_machine(record, ours, kept) for record in records)}
        set known {{ type ifname . ipv4_addr; {_elements(f'"{r.interface}" . {r.address}' for r in records)} }}
        map beyond {{ type ifname : verdict; {_elements(f'"{r.interface}" : jump m_{r.id}' for r in records)} }}
        map here {{ type ifname : verdict; {_elements(f'"{r.interface}" : jump l_{r.id}' for r in records)} }}
        chain input {{
          type filter hook input priority filter - 5;
          iifgroup {ours} ct state established,related accept
          iifgroup {ours} iifname . ip saddr != @known drop
          iifgroup {ours} ip daddr {names} meta l4proto {{ tcp, udp }} th dport 53 accept
          iifgroup {ours} iifname vmap @here
          iifgroup {ours} drop
          iifname != "lo" ip daddr {names} drop
        }}
        chain forward {{
          type filter hook forward priority filter - 5;
          iifgroup {ours} iifname . ip saddr @known iifname vmap @beyond
          iifgroup {ours} drop
          oifgroup {ours} ct state established,related accept
          oifgroup {ours} drop
          {"".join(f'iifname "{uplink}" drop;' for uplink in (guarded_uplinks() if records else ()))}
        }}
        chain output {{
          type filter hook output priority filter - 5;
          oifgroup {ours} meta skuid != {{ {users} }} drop
        }}
        chain postrouting {{
          type nat hook postrouting priority srcnat;
          ip saddr {host.subnet} iifgroup {ours} oifgroup != {ours} masquerade
        }}
    """


def _machine(record: Record, ours: int, kept: Mapping[str, list[str]]) -> str:
    entries = [entry for entry in record.policy.entries if entry.network]
    accept = f"ct mark set {record.mark} accept"
    anywhere, on_ports = pins.anywhere(record.id), pins.on_ports(record.id)
    options = f"flags timeout; size {pins.CAPACITY};"
    rest = f"""
          ip daddr @{anywhere} {accept}
          ip daddr . th dport @{on_ports} {accept}"""
    return f"""
        set {anywhere} {{ type ipv4_addr; {options} {_elements(kept.get(anywhere, ()))} }}
        set {on_ports} {{ type ipv4_addr . inet_service; {options} {_elements(kept.get(on_ports, ()))} }}
        chain l_{record.id} {{
          meta l4proto {{ tcp, udp }} th dport {NAME_PORTS} drop
          {"".join(f"{_matching(entry)} {accept};" for entry in entries if entry.single)}
        }}
        chain m_{record.id} {{
          meta nfproto != ipv4 drop
          ct state established,related ct mark {record.mark} accept
          jump l_{record.id}
          oifgroup {ours} drop
          {"".join(f"{_matching(entry)} {accept};" for entry in entries if not entry.single)}
          ip daddr @private drop
          {accept if record.policy.mode == "open" else rest}
          drop
        }}
    """


def _matching(entry: Entry) -> str:
    port = f" meta l4proto {{ tcp, udp }} th dport {entry.port}" if entry.port else ""
    return f"ip daddr {entry.network}{port}"


def _elements(items: Iterable[str]) -> str:
    joined = ", ".join(items)
    return f"elements = {{ {joined} }}" if joined else ""


def _service_uid() -> int:
    try:
        return pwd.getpwnam(SERVICE_USER).pw_uid
    except KeyError:
        return os.geteuid()
