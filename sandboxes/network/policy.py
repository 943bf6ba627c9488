"""What a machine may reach, as data: `off`, an `allowlist`, or `open` with all that is private left out."""

import re
from dataclasses import dataclass
from functools import cached_property
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from typing import Literal, get_args

Mode = Literal["off", "allowlist", "open"]

PRIVATE = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",
            "10.0.0.0/8",
            "100.64.0.0/10",
            "127.0.0.0/8",
            "169.254.0.0/16",
            "172.16.0.0/12",
            "192.0.0.0/24",
            "192.168.0.0/16",
            "198.18.0.0/15",
            "224.0.0.0/3",
        ),
    )
)
WIDEST = 8
NAME = re.compile(r"(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z]([a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True)
class Entry:
    """One line of an allowlist: a network (one address is a network too) or a name, on one port or on all."""

    network: IPv4Network | None
    name: str
    port: int | None

    @classmethod
    def parse(cls, text: str) -> "Entry":
        """Raises ValueError with a sentence."""
        place, _, port = text.strip().lower().partition(":")
        if port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
            raise ValueError(f"“{text}” has no port from 1 to 65535 after its colon.")
        number = int(port) if port else None
        try:
            network = IPv4Network(place)
        except (AddressValueError, ValueError):
            if not NAME.fullmatch(place) or len(place) > 253:
                raise ValueError(f"“{text}” is no name, IPv4 address or IPv4 network.") from None
            return cls(None, place, number)
        if network.prefixlen < WIDEST:
            raise ValueError(f"“{text}” is wider than /{WIDEST}: the mode “open” is for that.")
        return cls(network, "", number)

    @property
    def single(self) -> bool:
        return self.network is not None and self.network.prefixlen == 32

    def covers(self, name: str) -> bool:
        if self.name.startswith("*."):
            return name.endswith(self.name[1:])
        return bool(self.name) and name == self.name


@dataclass(frozen=True)
class Policy:
    """Names count in an allowlist only; addresses and networks open what is private in both modes.

    Addresses of the host and of other machines open only when listed one by one, never as part of a network.
    """

    mode: Mode = "off"
    allow: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "allow", tuple(self.allow))
        named = any(entry.name for entry in self.entries)
        if self.mode not in get_args(Mode):
            raise ValueError(f"A network policy is one of {', '.join(get_args(Mode))}, not “{self.mode}”.")
        if self.mode == "off" and self.allow:
            raise ValueError("The network policy “off” allows nothing: use “allowlist” to name exceptions.")
        if self.mode == "open" and named:
            raise ValueError("In an open network every public name is allowed: list addresses or networks only.")

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(map(Entry.parse, self.allow))

    def answers(self, name: str) -> bool:
        """Whether the machine may learn anything about this name (lower case, no final dot)."""
        return self.mode == "open" or (self.mode == "allowlist" and bool(self.ports(name)))

    def ports(self, name: str) -> set[int | None]:
        """On which ports the name was listed; None stands for all."""
        return {entry.port for entry in self.entries if entry.covers(name)}

    def admits(self, address: IPv4Address) -> bool:
        """Whether a name may lead to this address. One that flips to a private address is thereby refused."""
        listed = any(entry.network and address in entry.network for entry in self.entries)
        return listed or not any(address in network for network in PRIVATE)
