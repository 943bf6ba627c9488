"""A file that is compared with its hash while it is read."""

import hashlib
import io
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer


class CheckedFile(io.RawIOBase):
    """Raises `wrong` when its end is reached and the bytes were others than `sha256` says."""

    def __init__(self, file: IO[bytes], sha256: str, wrong: Exception) -> None:
        self._file = file
        self._sha256 = sha256
        self._wrong = wrong
        self._digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer).cast("B")
        data = self._file.read(len(view))
        if not data and len(view) and self._digest.hexdigest() != self._sha256:
            raise self._wrong
        self._digest.update(data)
        view[: len(data)] = data
        return len(data)
