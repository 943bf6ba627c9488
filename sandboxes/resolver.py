"""The only name server that machines reach. It says what a machine's policy allows, and pins what it said.

Run as `python -m sandboxes.resolver`. It needs the right to bind port 53 and to change the firewall, and no other.
"""

import argparse
import logging
import signal
import socket
import socketserver
import struct
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ipaddress import IPv4Address
from typing import Any, cast

import dns.exception
import dns.flags
import dns.message
import dns.name
import dns.opcode
import dns.query
import dns.rcode
import dns.rdataclass
import dns.rdatatype
import dns.resolver
import dns.rrset

from .errors import Unavailable
from .host import Host, here
from .network import nameserver_address, pins, records
from .network.nameserver import ensure_nameserver_address
from .network.records import Record

log = logging.getLogger(__name__)

PORT = 53
PATIENCE = 3.0
UDP_SIZE = 1232
AT_ONCE = 16
IP_FREEBIND = 15
# AAAA and HTTPS records would name addresses past the pins; machines have no IPv6.
FORWARDED = {
    dns.rdatatype.A, dns.rdatatype.CNAME, dns.rdatatype.MX, dns.rdatatype.NS, dns.rdatatype.PTR,
    dns.rdatatype.SOA, dns.rdatatype.SRV, dns.rdatatype.TXT,
}  # fmt: skip

Upstream = tuple[str, int]


class Busy(Exception):
    pass


class Resolver:
    def __init__(self, host: Host, upstreams: Sequence[Upstream]) -> None:
        self.host = host
        self.upstreams = upstreams
        self._asking: Counter[str] = Counter()
        self._lock = threading.Lock()

    def reply(self, wire: bytes, source: str, size: int) -> bytes | None:
        """None for what is no question, and for more questions at once than one machine may have open."""
        try:
            query = dns.message.from_wire(wire)
            if query.flags & dns.flags.QR or len(query.question) != 1 or query.opcode() != dns.opcode.QUERY:
                return None
            with self._turn(source):
                response = self._respond(query, source)
            return _packed(response, size)
        except (dns.exception.DNSException, Busy):
            return None

    @contextmanager
    def _turn(self, source: str) -> Iterator[None]:
        with self._lock:
            if self._asking[source] >= AT_ONCE:
                raise Busy
            self._asking[source] += 1
        try:
            yield
        finally:
            with self._lock:
                self._asking[source] -= 1
                if not self._asking[source]:
                    del self._asking[source]

    def _respond(self, query: dns.message.Message, source: str) -> dns.message.Message:
        response = dns.message.make_response(query, recursion_available=True)
        question = query.question[0]
        name = question.name.to_text(omit_final_dot=True).lower()
        record = next((record for record in records.all_records(self.host) if record.address == source), None)
        if record is None or question.rdclass != dns.rdataclass.IN or not record.policy.answers(name):
            response.set_rcode(dns.rcode.REFUSED)
        elif question.rdtype in FORWARDED:
            self._forward(question, response, record, name)
        return response

    def _forward(self, question: dns.rrset.RRset, response: dns.message.Message, record: Record, name: str) -> None:
        found = self._ask(question)
        if found is None:
            response.set_rcode(dns.rcode.SERVFAIL)
            return
        response.set_rcode(found.rcode())
        addresses = [rdata.address for rrset in found.answer for rdata in rrset if rdata.rdtype == dns.rdatatype.A]
        if not all(record.policy.admits(IPv4Address(address)) for address in addresses):
            log.warning("%s was led to a private address by %s", record.id, name)
            response.set_rcode(dns.rcode.REFUSED)
            return
        response.answer = [rrset for rrset in found.answer if rrset.rdtype in FORWARDED]
        if record.policy.mode == "allowlist" and addresses:
            ttl = min(rrset.ttl for rrset in found.answer)
            pins.pin(self.host, record, map(IPv4Address, addresses), record.policy.ports(name), ttl)

    def _ask(self, question: dns.rrset.RRset) -> dns.message.Message | None:
        for address, port in self.upstreams:
            query = dns.message.make_query(question.name, question.rdtype, use_edns=0, payload=UDP_SIZE)
            try:
                return dns.query.udp_with_fallback(query, address, PATIENCE, port)[0]
            except (dns.exception.DNSException, OSError) as error:
                log.warning("%s does not answer: %s", address, error)
        return None


def _packed(response: dns.message.Message, size: int) -> bytes:
    try:
        return response.to_wire(max_size=size)
    except dns.exception.TooBig:
        response.answer = []
        response.flags |= dns.flags.TC
        return response.to_wire()


class Datagram(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        wire, here_socket = self.request
        answer = _resolver(self.server).reply(wire, self.client_address[0], UDP_SIZE)
        if answer:
            here_socket.sendto(answer, self.client_address)


class Stream(socketserver.StreamRequestHandler):
    timeout = PATIENCE

    def handle(self) -> None:
        header = self.rfile.read(2)
        if len(header) == 2:
            wire = self.rfile.read(struct.unpack("!H", header)[0])
            answer = _resolver(self.server).reply(wire, self.client_address[0], 65535)
            if answer:
                self.wfile.write(struct.pack("!H", len(answer)) + answer)


class Threads(socketserver.ThreadingMixIn):
    """As many at once as one process can bear; what comes on top is dropped, and asked again by whoever needs it."""

    daemon_threads = True
    allow_reuse_address = True
    resolver: Resolver
    slots = threading.BoundedSemaphore(256)

    def process_request(self, request: Any, client_address: Any) -> None:
        if self.slots.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            cast(socketserver.BaseServer, self).shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.slots.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        log.warning("a question from %s failed", client_address[0], exc_info=True)


class UdpServer(Threads, socketserver.UDPServer):
    pass


class TcpServer(Threads, socketserver.TCPServer):
    pass


def _resolver(server: socketserver.BaseServer) -> Resolver:
    return cast(Threads, server).resolver


def serve(host: Host, upstreams: Sequence[Upstream]) -> list[UdpServer | TcpServer]:
    """Starts and returns. Raises Unavailable when the address is taken."""
    address = (str(nameserver_address(host)), PORT)
    servers: list[UdpServer | TcpServer] = [
        UdpServer(address, Datagram, bind_and_activate=False),
        TcpServer(address, Stream, bind_and_activate=False),
    ]
    for server in servers:
        server.resolver = Resolver(host, upstreams)
        server.socket.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
        try:
            server.server_bind()
        except OSError as error:
            raise Unavailable(
                f"The name server of machines cannot use {address[0]}:{PORT} ({error.strerror}): let whatever else "
                f"listens on port {PORT} do so on addresses of its own only."
            ) from None
        server.server_activate()
        threading.Thread(target=server.serve_forever, daemon=True).start()
    return servers


def of_this_host() -> list[Upstream]:
    return [(str(server), PORT) for server in dns.resolver.Resolver().nameservers]


def main() -> None:
    parser = argparse.ArgumentParser(prog="sandboxes.resolver", description=__doc__)
    parser.add_argument("--upstream", action="append", metavar="ADDRESS:PORT", help="instead of the host's own")
    given = [word.rpartition(":") for word in parser.parse_args().upstream or ()]
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    ensure_nameserver_address(here())
    try:
        serve(here(), [(address, int(port)) for address, _, port in given] or of_this_host())
    except Unavailable as error:
        sys.exit(str(error))
    signal.pause()


if __name__ == "__main__":
    main()
