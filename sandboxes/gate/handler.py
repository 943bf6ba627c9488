"""One connection: who is it, may he, and then the bytes. Runs in a process of its own."""

import logging
import re
import signal
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from redis import Redis, RedisError
from websockify.websocketproxy import ProxyRequestHandler

from ..display.barrier import wait_for_input
from ..errors import Gone, Refused
from ..fence import Guard
from . import tickets
from .frames import Ending, GateSocket
from .relay import Relay

if TYPE_CHECKING:
    from .server import Gate

ADMITTED_WITHIN = 10.0
"""Seconds from the first byte until a ticket has let somebody in; `timeout` begins anew with every byte."""

CONNECT_TIMEOUT = 5.0
GOODBYE_TIMEOUT = 2.0
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Target:
    """`guard` is for whoever may drive when it is his turn; None may only watch. `still` is asked now and then."""

    host: str
    port: int
    guard: Guard | None = None
    still: Callable[[], bool] = lambda: True


class GateHandler(ProxyRequestHandler):  # type: ignore[misc]
    SocketClass = GateSocket
    timeout = 10
    server: "Gate"
    request: GateSocket

    def setup(self) -> None:
        """This process is this connection's own, and ends with it."""
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, ADMITTED_WITHIN)
        super().setup()

    def handle_upgrade(self) -> None:
        origin = self.headers.get("Origin", "")
        if not origin or not self.server.origin_allowed(origin):
            log.warning("%s: refused a page from %r", self.client_address[0], origin)
            self._turn_away(403)
        elif not self._sandbox_id():
            self._turn_away(404)
        else:
            super().handle_upgrade()

    def handle_websocket(self) -> None:
        """Replaces the stock method, which logs the path and with it the ticket."""
        try:
            self._serve()
        except Ending as ending:
            log.info("%s: closed, %s %s", self.client_address[0], ending.code, ending.reason)
            with suppress(OSError, Ending):
                self.request.end(ending.code, ending.reason, GOODBYE_TIMEOUT)
        except OSError as error:
            log.info("%s: broke off: %s", self.client_address[0], error)
        except Exception:
            log.exception("%s: failed", self.client_address[0])
            with suppress(OSError, Ending):
                self.request.end(1011, "The gate failed.", GOODBYE_TIMEOUT)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """The stock messages quote the request, and with it the ticket."""

    def _serve(self) -> None:
        ticket = self._ticket()
        target = self.server.authorize(ticket, self._cookies())
        if target is None:
            raise Ending(4401, "You may not see this machine.")
        with self._connect(target) as machine:
            signal.setitimer(signal.ITIMER_REAL, 0)
            who = self.client_address[0], ticket.user_id, ticket.sandbox_id, ticket.role
            log.info("%s: user %s, machine %s, %s", *who)
            relay = Relay(self.request, machine, target.guard, target.still)
            try:
                relay.run()
            finally:
                machine.close()
                if relay.pressed:
                    _wake(target)

    def _ticket(self) -> tickets.Ticket:
        given = parse_qs(urlsplit(self.path).query).get("ticket", [""])[0]
        try:
            with Redis.from_url(self.server.redis_url, socket_timeout=CONNECT_TIMEOUT) as redis:
                ticket = tickets.redeem(redis, given)
        except RedisError as error:
            log.error("Redis does not answer: %s", error)
            raise Ending(1013, "Tickets cannot be checked now.") from error
        if ticket is None or ticket.sandbox_id != self._sandbox_id():
            raise Ending(4401, "This ticket is not valid.")
        return ticket

    def _connect(self, target: Target) -> socket.socket:
        try:
            machine = socket.create_connection((target.host, target.port), CONNECT_TIMEOUT)
        except OSError as error:
            raise Ending(4404, "The machine does not answer.") from error
        for sock in (machine, self.connection):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return machine

    def _sandbox_id(self) -> str:
        match = re.fullmatch(r"/vnc/([\w-]+)", urlsplit(self.path).path)
        return match[1] if match else ""

    def _cookies(self) -> dict[str, str]:
        """Read as Django reads them. The strict SimpleCookie drops all of them for one that another program set."""
        pairs = (chunk.partition("=") for chunk in self.headers.get("Cookie", "").split(";"))
        return {name.strip(): value.strip() for name, equals, value in pairs if equals}

    def _turn_away(self, status: int) -> None:
        self.close_connection = True
        self.send_error(status)


def _wake(target: Target) -> None:
    """A display lets go of what a lost connection held down, but its windows hear of it only when it wakes next."""
    with suppress(Gone, Refused):
        wait_for_input(target.host, target.port)
