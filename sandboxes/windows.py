"""Whether a machine's window manager is at work."""

import time

from .guest.client import Guest

PATIENCE = 10
NOT_FOUND = 127


def wait_for_windows(guest: Guest) -> None:
    """Until the window manager takes keys: it lists its windows just before. An image may have none, or no xprop."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        seen = guest.exec(["xprop", "-root", "_NET_CLIENT_LIST"])
        if seen.returncode == NOT_FOUND or b"#" in seen.stdout:
            return
        time.sleep(0.01)
