"""Small things that one process lays out for another, in memory and for a minute.

A thing's file is named after its owner and its content. In a place where everybody may write, only a directory that is
our own counts.
"""

import hashlib
import os
import shutil
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")
KEPT_SECONDS = 60


class Shelf:
    def __init__(self, name: str, otherwise: Path, memory: Path = SHARED_MEMORY) -> None:
        """`otherwise` is where it is on hosts without memory to share."""
        self.directory = (memory if os.access(memory, os.W_OK) else otherwise) / name

    def put(self, key: str, content: bytes) -> None:
        """In place of what was there. Raises OSError."""
        self.directory.mkdir(mode=0o700, exist_ok=True)
        if not self._is_ours():
            raise PermissionError(f"{self.directory} belongs to somebody else.")
        new = self.directory / f"{key}.{hashlib.sha256(content).hexdigest()[:16]}"
        half = self.directory / f".{key}"
        half.write_bytes(content)
        half.rename(new)
        for old in self.directory.glob(f"{key}.*"):
            if old != new:
                old.unlink(missing_ok=True)

    def touch(self, key: str) -> bool:
        """It still holds; False when there is nothing."""
        found = next(self.directory.glob(f"{key}.*"), None)
        if found:
            os.utime(found)
        return found is not None

    def get(self, key: str) -> tuple[str, bytes] | None:
        name = self.names([key]).get(key)
        try:
            return (name, (self.directory / f"{key}.{name}").read_bytes()) if name else None
        except OSError:
            return None

    def names(self, keys: Iterable[str]) -> dict[str, str]:
        """What is there of these, and no older than a minute."""
        wanted, oldest = set(keys), time.time() - KEPT_SECONDS
        try:
            with os.scandir(self.directory) as files:
                parts = {file.name.partition(".")[::2] for file in files if file.stat().st_mtime > oldest}
        except OSError:
            return {}
        return {key: name for key, name in parts if key in wanted} if self._is_ours() else {}

    def remove(self, key: str) -> None:
        for path in self.directory.glob(f"{key}.*"):
            path.unlink(missing_ok=True)
        with suppress(OSError):
            self.directory.rmdir()

    def clear(self) -> None:
        """Whoever laid it out."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def _is_ours(self) -> bool:
        try:
            found = self.directory.lstat()
        except OSError:
            return False
        return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid()
