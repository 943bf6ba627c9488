"""Whether somebody works behind a lock file now."""

import fcntl
from pathlib import Path


def is_held(lock: Path) -> bool:
    """Asks by holding it for an instant together with others who ask; whoever wants it alone waits for that long."""
    try:
        with lock.open() as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
