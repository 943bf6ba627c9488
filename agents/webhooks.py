"""A signed message to an address that a person chose, which must not lead back into the installation's own network.

Names are resolved once, every address that they lead to must be public, and the connection goes to one of those very
addresses: a name that flips in between changes nothing. Redirects are not followed, and little of an answer is read.
"""

import hashlib
import hmac
import http.client
import json
import socket
import ssl
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from threading import Timer
from typing import Any
from urllib.parse import SplitResult, urlsplit

from sandboxes.network.policy import PRIVATE

from .errors import AgentError

TIMEOUT = 5.0
PATIENCE = 15.0
LONGEST = 1000
TUNNELS = tuple(map(IPv6Network, ("64:ff9b::/96", "64:ff9b:1::/48", "2001::/32", "2002::/16", "::/96")))
SIGNATURE = "X-GodHand-Signature"


class NotSent(AgentError):
    """The text may be shown to whoever chose the address; `for_good` says that it makes no sense to try again."""

    def __init__(self, text: str, *, for_good: bool = False) -> None:
        super().__init__(text)
        self.for_good = for_good


def checked(url: str) -> SplitResult:
    """Raises NotSent for what is no address of the Web."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        raise NotSent("That is no address.", for_good=True) from None
    if parts.scheme not in ("https", "http") or not parts.hostname or port == 0 or len(url) > LONGEST:
        raise NotSent("An address begins with https:// or http://, and then comes a name.", for_good=True)
    if parts.username or parts.password or not url.isascii() or not url.strip().isprintable():
        raise NotSent("Leave names and passwords out of the address, and write it in plain letters.", for_good=True)
    return parts


def addresses(parts: SplitResult, also: Sequence[str] = ()) -> list[str]:
    """Where it leads. Raises NotSent unless all of that is public, or `also` allowed."""
    try:
        found = socket.getaddrinfo(parts.hostname, _port(parts), type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise NotSent(f"The name {parts.hostname} leads nowhere.") from None
    places = list(dict.fromkeys(str(each[4][0]) for each in found))
    for place in places:
        if not _is_public(place) and not any(ip_address(place) in ip_network(each) for each in also):
            raise NotSent(f"{parts.hostname} is in a private network, and nothing is sent there.", for_good=True)
    return places


def signature(secret: str, body: bytes, at: int) -> str:
    """What the receiver computes as well: HMAC-SHA256 of the time, a dot and the body."""
    told = hmac.new(secret.encode(), b"%d." % at + body, hashlib.sha256).hexdigest()
    return f"t={at},v1={told}"


def send(url: str, message: Mapping[str, Any], secret: str, *, also: Sequence[str] = ()) -> int:
    """The status of the answer. Raises NotSent unless it is one of 200 to 299."""
    parts = checked(url)
    body = json.dumps(message, ensure_ascii=False).encode()
    headers = {
        "Host": parts.netloc,
        "Content-Type": "application/json",
        "User-Agent": "GodHand",
        SIGNATURE: signature(secret, body, int(time.time())),
    }
    trouble: Exception | None = None
    for place in addresses(parts, also):
        try:
            status = _post(parts, place, body, headers)
        except (OSError, http.client.HTTPException) as error:
            trouble = error
            continue
        if 200 <= status < 300:
            return status
        raise NotSent(f"It answered {status}.", for_good=status == 410)
    raise NotSent(f"It does not answer: {trouble}"[:200])


def _post(parts: SplitResult, place: str, body: bytes, headers: Mapping[str, str]) -> int:
    connection = http.client.HTTPConnection(parts.hostname or "", _port(parts), timeout=TIMEOUT)
    connection.sock = socket.create_connection((place, _port(parts)), timeout=TIMEOUT)
    watchdog = Timer(PATIENCE, _cut, (connection,))
    watchdog.daemon = True
    watchdog.start()
    try:
        if parts.scheme == "https":
            connection.sock = _secured(connection.sock, parts.hostname or "")
            connection.sock.do_handshake()
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", path, body, dict(headers))
        return connection.getresponse().status
    finally:
        watchdog.cancel()
        connection.close()


def _secured(plain: socket.socket, host: str) -> ssl.SSLSocket:
    return ssl.create_default_context().wrap_socket(plain, server_hostname=host, do_handshake_on_connect=False)


def _cut(connection: http.client.HTTPConnection) -> None:
    """Whoever sends one byte now and then would otherwise keep it open for ever."""
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(socket.SHUT_RDWR)


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def _is_public(place: str) -> bool:
    address = ip_address(place.partition("%")[0])
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if isinstance(address, IPv4Address):
        return address.is_global and not any(address in network for network in PRIVATE)
    return address.is_global and not address.is_multicast and not any(address in network for network in TUNNELS)
