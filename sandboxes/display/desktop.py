"""What one sees of a machine and does to it."""

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from typing import Self

from ..actions import Action
from ..errors import Gone, Taken
from ..fence import Guard
from ..lifeline import NO_LIFELINE, Lifeline
from .framebuffer import Change
from .hands import Hands
from .rfb import RfbClient
from .screen import Box, Screen
from .settle import CAP, FIRST, PANEL_CLOCK, Settled, settle


class Desktop:
    """A kept connection to one screen. Every method raises Gone once the machine does not answer."""

    def __init__(self, client: RfbClient) -> None:
        self._client = client
        self._hands = Hands(client)

    @classmethod
    def connect(cls, host: str, port: int, lifeline: Lifeline = NO_LIFELINE, guard: Guard = nullcontext) -> Self:
        """Raises Gone when nothing answers, Refused when a password is asked for. Closes the lifeline in any case."""
        return cls(RfbClient.connect(host, port, lifeline, guard))

    def close(self) -> None:
        """No button stays down, as far as it is for us to say."""
        with suppress(Gone, Taken):
            self._hands.mouse.let_go()
        self._client.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def size(self) -> tuple[int, int]:
        return self._client.size

    @property
    def version(self) -> int:
        """Grows with every update in which pixels changed."""
        return self._client.version

    @property
    def cursor(self) -> tuple[int, int] | None:
        """Where the pointer was at the last screenshot; None until somebody has moved it."""
        return self._client.position

    def locate(self) -> tuple[int, int]:
        """Where the pointer is now, whoever moved it."""
        return self._hands.mouse.position()

    def screenshot(self, *, pointer: bool = False) -> Screen:
        """Everything drawn before the call is on it.

        TigerVNC paints the pointer in while somebody else moves it or nobody has; once this connection has
        moved it, it is on the picture only with `pointer`.
        """
        self._client.refresh()
        return self._screen(pointer)

    def changes(self, since_version: int) -> list[Change]:
        """Where and when pixels changed after that version, oldest first."""
        return self._client.changes(since_version)

    def wait_for_change(self, since_version: int, timeout: float) -> bool:
        """Whether the screen went past `since_version` in time."""
        return self._client.wait_for_change(since_version, timeout)

    def wait_until(self, predicate: Callable[[Screen], bool], timeout: float) -> Screen:
        """The first screen that satisfies `predicate`. Raises TimeoutError."""
        deadline = time.monotonic() + timeout
        self._client.refresh()
        while True:
            version = self.version
            screen = self._screen()
            if predicate(screen):
                return screen
            if not self.wait_for_change(version, deadline - time.monotonic()):
                raise TimeoutError(f"The screen did not become as expected within {timeout:g} s.")

    def settle(
        self, since_version: int, *, first: float = FIRST, cap: float = CAP, ignore: Sequence[Box] = (PANEL_CLOCK,)
    ) -> Settled:
        """The screen once it has answered an action and come to rest. Take `version` before the action."""
        return settle(self, since_version, first=first, cap=cap, ignore=ignore)

    def perform(self, action: Action) -> None:
        """Return once the display server has processed the action; the programs behind it may need longer.

        Raises BadAction for places outside the screen and buttons that its mouse does not have, before anything is
        sent; Taken as soon as somebody else drives. A long Hold or Wait ends with Gone as soon as the machine has gone.
        """
        self._hands.perform(action)

    def _screen(self, pointer: bool = False) -> Screen:
        return Screen(self._client.pixels(pointer=pointer), self._client.position)
