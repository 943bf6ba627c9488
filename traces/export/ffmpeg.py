"""The system's ffmpeg, as a program beside this one."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO

from ..errors import NotPossible

PATIENCE = 120
QUIET = ("-hide_banner", "-nostdin", "-loglevel", "error", "-y")


def missing() -> str | None:
    if shutil.which("ffmpeg"):
        return None
    return "Films need the program ffmpeg: install it on the host with “apt-get install ffmpeg”."


def run(arguments: Sequence[str]) -> None:
    """Raises NotPossible."""
    with fed(arguments):
        pass


@contextmanager
def fed(arguments: Sequence[str]) -> Iterator[IO[bytes]]:
    """Gives what it reads as `pipe:0`, and waits for its end. Raises NotPossible, with what it said."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(["ffmpeg", *QUIET, *arguments], stdin=subprocess.PIPE, stderr=said)
        assert process.stdin is not None
        try:
            with suppress(BrokenPipeError), process.stdin as pipe:
                yield pipe
            process.wait(PATIENCE)
        finally:
            process.kill()
            process.wait()
        if process.returncode:
            said.seek(0)
            words = said.read().decode(errors="replace").strip().splitlines()
            raise NotPossible(f"The film could not be made; ffmpeg says: {words[-1][:200] if words else 'nothing'}")
