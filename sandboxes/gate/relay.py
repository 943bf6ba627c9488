"""Bytes between one browser and one machine, with backpressure both ways."""

import select
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack

from ..display.filter import ClientFilter, Forbidden
from ..errors import Taken
from ..fence import Guard
from .frames import Ending, GateSocket

CHUNK = 64 * 1024
MAX_WAITING = 256 * 1024
PING_EVERY = 15.0
ASK_EVERY = 10.0
"""A login that ended, or a right that was taken away, closes what it had open within so long."""
SILENT_FOR = 60.0
"""Browsers answer pings by themselves: one that says nothing for so long is not there any more."""
STALLED_FOR = 30.0
HELD_DOWN = 0.1
"""How often to look whether a person who holds a key or a button down still drives."""


class Relay:
    """Reads no more from either side while the other has not taken what waits for it.

    Input is judged and sent under `guard`, so that it is the driver's when it leaves; without one there is none. A
    person who loses the machine goes on watching. With a key or a button down the connection ends: then the display
    lets it go.
    """

    def __init__(
        self, browser: GateSocket, machine: socket.socket, guard: Guard | None, still: Callable[[], bool]
    ) -> None:
        self._browser = browser
        self._machine = machine
        self._guard = guard
        self._still = still
        self._driving = False
        self._filter = ClientFilter(lambda: "drive" if self._driving else "view")
        self._to_machine = bytearray()
        self._pinged_at = self._taken_at = self._asked_at = time.monotonic()

    @property
    def pressed(self) -> bool:
        """Whether a key or a button went down and has not come up."""
        return bool(self._filter.pressed)

    def run(self) -> None:
        """Never returns: raises Ending."""
        self._browser.setblocking(False)
        self._machine.setblocking(False)
        while True:
            readable, writable = self._wait()
            if self._browser in readable:
                self._from_browser()
            if self._machine in readable:
                self._from_machine()
            if self._browser in writable and self._browser.flush():
                self._taken_at = time.monotonic()
            if self._machine in writable:
                self._flush_machine()
            self._look_at_the_clock()

    def _wait(self) -> tuple[list[object], list[object]]:
        readers: list[GateSocket | socket.socket] = []
        writers: list[GateSocket | socket.socket] = []
        if not self._to_machine:
            readers.append(self._browser)
        if len(self._browser.outgoing) < MAX_WAITING:
            readers.append(self._machine)
        if self._browser.outgoing:
            writers.append(self._browser)
        if self._to_machine:
            writers.append(self._machine)
        readable, writable, _ = select.select(readers, writers, [], HELD_DOWN if self.pressed else 1)
        return list(readable), list(writable)

    def _from_browser(self) -> None:
        messages = self._browser.messages()
        with ExitStack() as lock:
            self._driving = self._may_drive(lock)
            try:
                for message in messages:
                    self._to_machine += self._filter.feed(message)
            except Forbidden as forbidden:
                raise Ending(forbidden.code, str(forbidden)) from forbidden
            self._send()

    def _may_drive(self, lock: ExitStack) -> bool:
        """And nobody else can until the lock is let go."""
        try:
            if self._guard:
                lock.enter_context(self._guard())
        except Taken:
            return False
        return self._guard is not None

    def _from_machine(self) -> None:
        try:
            data = self._machine.recv(CHUNK)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            raise Ending(4409, "The machine cut the connection.")
        if not self._browser.outgoing:
            self._taken_at = time.monotonic()
        self._browser.queue(data)

    def _flush_machine(self) -> None:
        """What the machine did not take at once was the driver's then, and must be so now."""
        with ExitStack() as lock:
            if self._driving and not self._may_drive(lock):
                raise Ending(4001, "Control was taken away.")
            self._send()

    def _send(self) -> None:
        if not self._to_machine:
            return
        try:
            sent = self._machine.send(self._to_machine)
        except BlockingIOError:
            return
        except OSError as error:
            raise Ending(4409, "The machine cut the connection.") from error
        del self._to_machine[:sent]

    def _look_at_the_clock(self) -> None:
        now = time.monotonic()
        with ExitStack() as lock:
            if self.pressed and not self._may_drive(lock):
                raise Ending(4001, "Control was taken away.")
        if self._browser.outgoing and now - self._taken_at > STALLED_FOR:
            raise Ending(4408, "The browser takes nothing any more.")
        if now - self._browser.heard_at > SILENT_FOR:
            raise Ending(4408, "The browser is silent.")
        if now - self._asked_at > ASK_EVERY:
            self._asked_at = now
            if not self._still():
                raise Ending(4401, "You may not see this machine any more.")
        if now - self._pinged_at > PING_EVERY and not self._browser.outgoing:
            self._pinged_at = self._taken_at = now
            self._browser.queue_ping()
