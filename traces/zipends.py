"""How many files a zip has, counted in constant memory.

`zipfile` makes an object of every entry before anybody can look, so an archive of a million names is a bomb by itself.
"""

import os
import struct
from pathlib import Path
from typing import BinaryIO, NamedTuple

from .errors import BadBundle

END = struct.Struct("<4s4H2LH")
END_64_LOCATOR = struct.Struct("<4sLQL")
END_64 = struct.Struct("<4sQ2H2L4Q")
ENTRY = struct.Struct("<4s24x3H12x")
COMMENT = 0xFFFF
UNKNOWN = 0xFFFFFFFF
ENTRY_BYTES = 200
"""For each file that is allowed, its entry with names and remarks; `zipfile` reads them all at once."""

NO_ZIP = "This is no zip file, or a damaged one."


class Directory(NamedTuple):
    start: int
    size: int


def count_entries(path: Path, limit: int) -> int:
    """Raises BadBundle when there are more than `limit`, and for what is no zip."""
    try:
        with path.open("rb") as file:
            directory = _directory(file)
            if directory.size > limit * ENTRY_BYTES:
                raise BadBundle(f"The archive has more than {limit} files, or very long names.")
            return _count(file, directory, limit)
    except (OSError, struct.error) as error:
        raise BadBundle(NO_ZIP) from error


def _count(file: BinaryIO, directory: Directory, limit: int) -> int:
    count = 0
    file.seek(directory.start)
    left = directory.size
    while left > 0:
        header = file.read(ENTRY.size)
        signature, *lengths = ENTRY.unpack(header)
        if signature != b"PK\x01\x02":
            raise BadBundle(NO_ZIP)
        count += 1
        if count > limit:
            raise BadBundle(f"The archive has more than {limit} files.")
        names = sum(lengths)
        file.seek(names, os.SEEK_CUR)
        left -= ENTRY.size + names
    return count


def _directory(file: BinaryIO) -> Directory:
    length = file.seek(0, os.SEEK_END)
    tail_start = max(0, length - END.size - COMMENT)
    file.seek(tail_start)
    tail = file.read()
    found = tail.rfind(b"PK\x05\x06")
    if found < 0:
        raise BadBundle(NO_ZIP)
    end = tail_start + found
    _, _, _, _, _, size, start, _ = END.unpack_from(tail, found)
    wide = _wide(file, end)
    if wide is not None:
        size, start, end = wide
    elif UNKNOWN in (size, start):
        raise BadBundle(NO_ZIP)
    # Bytes in front of the archive move everything: the directory ends where the end record begins.
    if size > end:
        raise BadBundle(NO_ZIP)
    return Directory(end - size, size)


def _wide(file: BinaryIO, end: int) -> tuple[int, int, int] | None:
    """Size and start of the directory, and where its own end record is, in an archive with 64-bit numbers."""
    if end < END_64_LOCATOR.size:
        return None
    file.seek(end - END_64_LOCATOR.size)
    signature, *_ = END_64_LOCATOR.unpack(file.read(END_64_LOCATOR.size))
    if signature != b"PK\x06\x07":
        return None
    at = end - END_64_LOCATOR.size - END_64.size
    if at < 0:
        raise BadBundle(NO_ZIP)
    file.seek(at)
    signature, *_, size, start = END_64.unpack(file.read(END_64.size))
    if signature != b"PK\x06\x06":
        raise BadBundle(NO_ZIP)
    return size, start, at
