"""Bytes too many for memory, to a machine and from it."""

import time
from collections.abc import Generator, Iterable
from contextlib import closing
from pathlib import Path
from typing import BinaryIO

from .. import tree
from .connection import Header, field
from .conversation import Conversation, given, raise_refusal

PIECE = 256 << 10
LARGEST = 4 << 30
MOST_ENTRIES = 50_000


class Transfers(Conversation):
    """None of these is repeated by itself. `timeout` is for the whole transfer; after it comes Gone."""

    def read_to(
        self, path: str, file: BinaryIO, *, user: str | None = None, limit: int = LARGEST, timeout: float = 600
    ) -> int:
        """How many bytes were read. Raises OutputLimit before the first byte for a file larger than `limit`."""
        request = {"op": "read", "path": path, "limit": limit} | given(user=user)
        count = 0
        with closing(self._stream_in(request, limit, timeout, path)) as pieces:
            for piece in pieces:
                file.write(piece)
                count += len(piece)
        return count

    def write_from(
        self, path: str, file: BinaryIO, *, user: str | None = None, mode: int | None = None, timeout: float = 600
    ) -> None:
        """What `write_file` does, with all that is left to read in a file. If that fails, nothing is written."""
        request = {"op": "write", "path": path} | given(user=user, mode=mode)
        self._stream_out(request, iter(lambda: file.read(PIECE), b""), timeout, path)

    def upload_tree(
        self,
        source: Path,
        path: str,
        *,
        user: str | None = None,
        max_bytes: int = LARGEST,
        max_entries: int = MOST_ENTRIES,
        timeout: float = 600,
    ) -> None:
        """Make a directory in the machine that is like one here; it appears whole or not at all.

        It must not be there yet. Raises Refused for what `tree` does not carry, OutputLimit, PermissionError.
        """
        request: Header = {"op": "unpack", "path": path, "max_bytes": max_bytes, "max_entries": max_entries}
        with closing(tree.pack(source, max_bytes, max_entries)) as pieces:
            self._stream_out(request | given(user=user), pieces, timeout, path)

    def download_tree(
        self,
        path: str,
        target: Path,
        *,
        user: str | None = None,
        max_bytes: int = LARGEST,
        max_entries: int = MOST_ENTRIES,
        timeout: float = 600,
    ) -> None:
        """Make a directory here that is like one in the machine; it appears whole or not at all.

        Only its owner can enter it. Raises FileExistsError when something is there already, Refused for what
        `tree` does not carry, OutputLimit, FileNotFoundError, NotADirectoryError, PermissionError.
        """
        request: Header = {"op": "pack", "path": path, "max_bytes": max_bytes, "max_entries": max_entries}
        with closing(self._stream_in(request | given(user=user), LARGEST, timeout, None)) as pieces:
            tree.unpack(pieces, target, max_bytes, max_entries)

    def _stream_in(self, request: Header, limit: int, timeout: float, path: str | None) -> Generator[bytes]:
        connection, deadline = self._connected(), time.monotonic() + timeout
        connection.send(request, b"", timeout)
        done = False
        try:
            while not done:
                answer, sizes = connection.answer(deadline, [limit])
                if answer.get("ok") is not True:
                    done = True
                    raise_refusal(answer, path)
                yield from connection.pieces(sizes[0], deadline)
                done = "more" not in answer or not field(answer, "more", bool)
        finally:
            if not done:
                connection.close()

    def _stream_out(self, request: Header, pieces: Iterable[bytes], timeout: float, path: str | None) -> None:
        connection, deadline = self._connected(), time.monotonic() + timeout
        try:
            connection.send(request | {"body": "stream"}, b"", timeout)
            for piece in pieces:
                if connection.has_spoken():
                    break
                connection.send({"body": len(piece)}, piece, deadline - time.monotonic())
            connection.send({"body": 0}, b"", deadline - time.monotonic())
            answer, _ = connection.answer(deadline, [])
        except BaseException:
            connection.close()
            raise
        if answer.get("ok") is not True:
            raise_refusal(answer, path)
