"""Asking a display until it answers."""

import time
from collections.abc import Callable
from typing import TypeVar

from ..errors import Ended, Gone

T = TypeVar("T")


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
