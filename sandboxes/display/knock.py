"""Whether a display is there."""

import time
from collections.abc import Callable
from typing import TypeVar

from ..errors import Ended, Gone
from ..lifeline import NO_LIFELINE, Lifeline
from .handshake import shake
from .wire import Wire

T = TypeVar("T")


def knock(host: str, port: int, lifeline: Lifeline = NO_LIFELINE) -> None:
    """Return once the display has greeted us. Raises Gone, Refused; closes the lifeline in any case."""
    wire = Wire.connect(host, port, lifeline)
    try:
        shake(wire)
    finally:
        wire.release()


def insist(ask: Callable[[], T], seconds: float) -> T:
    """A display may answer later than the guest does, and a busy machine later than one waits elsewhere.

    Raises Ended at once when the machine has ended, Gone when it has said nothing in time.
    """
    deadline = time.monotonic() + seconds
    while True:
        try:
            return ask()
        except Ended:
            raise
        except Gone:
            if time.monotonic() > deadline:
                raise
        time.sleep(0.01)
