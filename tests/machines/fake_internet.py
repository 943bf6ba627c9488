"""A small internet for one network namespace: every address serves two ports, and names that tests need.

`rebind.example` leads to a public address first and to a private one ever after.
"""

import socketserver
import sys
import threading

import dns.message
import dns.rcode
import dns.rrset

SEEN: set[str] = set()


def address_of(name: str, public: str, other: str, private: str) -> str | None:
    known = {"listed.example.": public, "sub.listed.example.": public, "other.example.": other}
    if name == "rebind.example.":
        known[name] = private if name in SEEN else public
        SEEN.add(name)
    return known.get(name, private if name == "private.example." else None)


class Names(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        wire, sock = self.request
        query = dns.message.from_wire(wire)
        response = dns.message.make_response(query)
        name = query.question[0].name.to_text().lower()
        address = address_of(name, *sys.argv[1:4])
        if address:
            response.answer = [dns.rrset.from_text(name, 1, "IN", "A", address)]
        else:
            response.set_rcode(dns.rcode.NXDOMAIN)
        sock.sendto(response.to_wire(), self.client_address)


class Pages(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.sendall(b"hello\n")


if __name__ == "__main__":
    threading.Thread(target=socketserver.UDPServer(("0.0.0.0", 53), Names).serve_forever, daemon=True).start()
    for port in (53, 8080):
        threading.Thread(target=socketserver.TCPServer(("0.0.0.0", port), Pages).serve_forever, daemon=True).start()
    socketserver.TCPServer(("0.0.0.0", 80), Pages).serve_forever()
