"""Bytes in files named by their hash: each stored once, and never changed.

<root>/ab/cd/abcd….webp     whole, synced, and under its own name
<root>/ab/cd/abcd….pack     in its place: the same picture in fewer bytes, after a line with their own hash
<root>/.new/…               being written, or left by a process that died then
"""

import errno
import hashlib
import io
import os
import re
import time
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import BinaryIO, cast

from .checkedfile import CheckedFile
from .errors import Damaged, DiskFull
from .payloads import Sha256

CHUNK = 1 << 20
PACK, HEAD = ".pack", 65
GRACE = 3600.0
"""Seconds for which bytes without a reference are left alone: an event may be about to name them."""

HASH = re.compile("[0-9a-f]{64}")
SUFFIXES = {
    "image/webp": "webp",
    "image/png": "png",
    "image/jpeg": "jpg",
    "application/json": "json",
}


@dataclass(frozen=True)
class Swept:
    files: int
    bytes: int


@contextmanager
def room() -> Iterator[None]:
    """Turns a full disk, a used-up quota and a disk without inodes into DiskFull."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFull(f"The disk is full ({error.strerror}): free some space on it, and carry on.") from error
        raise


class BlobStore:
    def __init__(self, root: Path) -> None:
        self._root = root

    def path_of(self, sha256: str, media_type: str) -> Path:
        """Raises ValueError for what is no hash."""
        if not HASH.fullmatch(sha256):
            raise ValueError(f"{sha256!r} is no SHA-256.")
        suffix = SUFFIXES.get(media_type, "bin")
        return self._root / sha256[:2] / sha256[2:4] / f"{sha256}.{suffix}"

    def add(self, data: bytes | BinaryIO, media_type: str) -> tuple[Sha256, int]:
        """The hash and the size. Raises DiskFull, and then nothing is left of it."""
        with room():
            if isinstance(data, bytes):
                sha256 = hashlib.sha256(data).hexdigest()
                if self._has(self.path_of(sha256, media_type), len(data)):
                    return Sha256(sha256), len(data)
                data = io.BytesIO(data)
            return self._write(data, media_type)

    def read(self, sha256: str, media_type: str) -> bytes:
        """Raises Damaged."""
        with self.open(sha256, media_type) as file:
            return file.read()

    @contextmanager
    def open(self, sha256: str, media_type: str) -> Iterator[BinaryIO]:
        """Raises Damaged, at once or at its end."""
        try:
            file = self._opened(sha256, media_type)
        except FileNotFoundError:
            raise Damaged(f"The stored file {sha256} is missing: it can only come back from a backup.") from None
        wrong = Damaged(f"The stored file {sha256} is damaged: it can only come back from a backup.")
        with file:
            packed = str(file.name).endswith(PACK)
            named = file.readline(HEAD).decode("ascii", "replace").strip() if packed else sha256
            yield cast(BinaryIO, CheckedFile(file, named, wrong))

    def pack(self, sha256: str, media_type: str, data: bytes, began: float) -> int:
        """Keep these bytes from now on, which show the same; tells how many are kept.

        What was given again after `began` stays as well.
        """
        head = f"{hashlib.sha256(data).hexdigest()}\n".encode()
        with room():
            self._put(io.BytesIO(head + data), lambda _: self._pack_of(sha256))
        self._remove(self.path_of(sha256, media_type), began)
        return len(head) + len(data)

    def is_packed(self, sha256: str, media_type: str) -> bool:
        return not self.path_of(sha256, media_type).exists() and self._pack_of(sha256).exists()

    def content(self, sha256: str, media_type: str) -> Sha256:
        """The hash of the bytes that `read` gives: another than their name when they are packed."""
        if not self.is_packed(sha256, media_type):
            return Sha256(sha256)
        with self._pack_of(sha256).open("rb") as file:
            return Sha256(file.readline(HEAD).decode("ascii", "replace").strip())

    def sweep(self, keep: Container[str], grace: float = GRACE) -> Swept:
        """Remove what is not to be kept, and what dead writers left; but nothing that was given within `grace`."""
        before = time.time() - grace
        sizes = [self._remove(path, before) for path in self._files() if path.stem not in keep]
        removed = [size for size in sizes if size is not None]
        return Swept(len(removed), sum(removed))

    def _files(self) -> Iterator[Path]:
        yield from self._root.glob(".new/*")
        yield from self._root.glob("[0-9a-f][0-9a-f]/[0-9a-f][0-9a-f]/*")

    def _pack_of(self, sha256: str) -> Path:
        return self.path_of(sha256, "").with_suffix(PACK)

    def _opened(self, sha256: str, media_type: str) -> BinaryIO:
        with suppress(FileNotFoundError):
            return self.path_of(sha256, media_type).open("rb")
        return self._pack_of(sha256).open("rb")

    def _has(self, path: Path, size: int) -> bool:
        """Marks the file as given now. One of another size was cut short by a crash of the host."""
        try:
            os.utime(path)
            return path.stat().st_size == size
        except FileNotFoundError:
            return False

    def _write(self, source: BinaryIO, media_type: str) -> tuple[Sha256, int]:
        sha256, target = self._put(source, lambda name: self.path_of(name, media_type))
        return sha256, target.stat().st_size

    def _put(self, source: BinaryIO, place: Callable[[str], Path]) -> tuple[Sha256, Path]:
        """`place` tells where bytes with such a hash belong."""
        new = self._root / ".new"
        new.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=new, delete=False) as file:
            try:
                digest = hashlib.sha256()
                while chunk := source.read(CHUNK):
                    digest.update(chunk)
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
                target = place(digest.hexdigest())
                target.parent.mkdir(parents=True, exist_ok=True)
                Path(file.name).rename(target)
            except BaseException:
                Path(file.name).unlink()
                raise
        _sync(target.parent)
        return Sha256(digest.hexdigest()), target

    def _remove(self, path: Path, before: float) -> int | None:
        """The bytes set free. A file that is given again in this very moment is put back."""
        aside = self._root / ".new" / path.name
        with suppress(FileNotFoundError):
            if path.stat().st_mtime >= before:
                return None
            aside.parent.mkdir(exist_ok=True)
            path.rename(aside)
            found = aside.stat()
            if found.st_mtime >= before:
                aside.rename(path)
                return None
            aside.unlink()
            return found.st_size
        return None


def _sync(directory: Path) -> None:
    """So that the names in it outlive a power cut too."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
