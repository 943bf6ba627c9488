"""The default image, built while the Python packages are being installed: both are slow, and neither needs the other.

Standard library only. It says nothing of what fails: the command itself tries again, and says what is wrong.
"""

import os
import signal
from contextlib import suppress
from types import FrameType

from sandboxes.env import BadSetting
from sandboxes.errors import SandboxError
from sandboxes.host import here
from sandboxes.images import builder

from .system import say

DEFAULT_IMAGE = "desktop"
ENDINGS = (signal.SIGINT, signal.SIGTERM)


def main() -> None:
    """Ends as by Ctrl-C when it is told to, and so leaves nothing unfinished."""
    for number in ENDINGS:
        signal.signal(number, _end)
    with suppress(SandboxError, BadSetting, OSError, KeyboardInterrupt):
        if not here().own.is_dir() or here().own.stat().st_uid == os.geteuid():
            builder.build(DEFAULT_IMAGE, say)


def _end(_number: int, _frame: FrameType | None) -> None:
    """Once: who is told twice, by the terminal and by whoever waits, would break off the cleaning up."""
    for number in ENDINGS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    main()
