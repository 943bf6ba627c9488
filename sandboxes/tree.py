"""Directories of the host as tar and back. What comes from a machine is taken to be written by an attacker.

Files, directories and symbolic links travel, with their modes but nobody's rights to write, and nothing else does: no
absolute path, no way up, no link that may lead out, no hard link, no device, no pipe. Not deeper than 32 directories,
no names over 255 bytes, no paths over 4000, and no more bytes and entries than the caller allows. Each is refused in a
sentence, and then nothing is left.
"""

import errno
import io
import os
import shutil
import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .errors import OutputLimit, Refused
from .guest.connection import readable
from .guest.daemon import tar, untar
from .guest.daemon.protocol import Refusal

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


def pack(source: Path, max_bytes: int, max_entries: int) -> Generator[bytes]:
    """Raises Refused, OutputLimit, and OSError for what cannot be read."""
    folder = os.open(source, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with _our_errors():
            yield from tar.pack(folder, tar.Meter(max_bytes, max_entries))
    finally:
        os.close(folder)


def unpack(pieces: Iterator[bytes], target: Path, max_bytes: int, max_entries: int) -> None:
    """Raises Refused, OutputLimit, FileExistsError when the target is there, and OSError when it cannot be made."""
    if os.path.lexists(target):
        raise FileExistsError(errno.EEXIST, "File exists", str(target))
    draft = Path(tempfile.mkdtemp(prefix=".godhand-", dir=target.parent))
    try:
        folder = os.open(draft, untar.ENTER)
        try:
            with _our_errors(), io.BufferedReader(_Pieces(pieces), 64 << 10) as source:
                untar.unpack(folder, source, tar.Meter(max_bytes, max_entries))
        finally:
            os.close(folder)
        draft.rename(target)
    except BaseException:
        shutil.rmtree(draft)
        raise


@contextmanager
def _our_errors() -> Iterator[None]:
    try:
        yield
    except Refusal as refusal:
        kind = OutputLimit if refusal.header["error"] == "limit" else Refused
        raise kind(readable(str(refusal))) from None


class _Pieces(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._piece = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        if not self._piece:
            self._piece = memoryview(next(self._pieces, b""))
        view = memoryview(buffer).cast("B")
        size = min(len(view), len(self._piece))
        view[:size] = self._piece[:size]
        self._piece = self._piece[size:]
        return size
