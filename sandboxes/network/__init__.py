"""Each machine's own network namespace, what it may reach from there, and the firewall that sees to it.

links: namespaces, veth pairs, addresses · policy: what is allowed, as data · records: whose address has which policy
firewall: the one nftables table of an installation · pins: addresses that allowed names have led to
joining: link and firewall for one machine
"""

from .firewall import SERVICE_USER, ensure_closed, ensure_firewall, remove_firewall
from .joining import join
from .links import (
    Link,
    connect,
    disconnect,
    namespace_name,
    namespace_path,
    owned_ids,
    reconnect,
)
from .nameserver import nameserver_address
from .policy import Mode, Policy

__all__ = [
    "SERVICE_USER",
    "Link",
    "Mode",
    "Policy",
    "connect",
    "disconnect",
    "ensure_closed",
    "ensure_firewall",
    "join",
    "nameserver_address",
    "namespace_name",
    "namespace_path",
    "owned_ids",
    "reconnect",
    "remove_firewall",
]
