"""Reading tar. Python's own reader keeps every member and believes every length; only single headers are left to it."""

import os
import tarfile
from typing import BinaryIO

from .files import write_all
from .protocol import CHUNK, Refusal
from .tar import BLOCK, LATEST, NO_FILE, Meter, check_link, padded, refuse, steps

RECORD_BYTES, LONGEST_SIZE = 16 << 10, 18
ENTER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY
MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW


def unpack(folder: int, source: BinaryIO, meter: Meter) -> None:
    """Fill an empty directory. Raises Refusal, and OSError when it cannot be written to."""
    while member := _next(source, meter):
        meter.count(0, entries=1)
        *parents, name = steps(member.name)
        place = os.dup(folder)
        try:
            for parent in parents:
                inner = os.open(parent, ENTER, dir_fd=place)
                os.close(place)
                place = inner
            _place(place, name, member, source, meter)
        except FileExistsError:
            raise refuse("“{}” comes twice.", member.name) from None
        except (FileNotFoundError, NotADirectoryError):
            raise refuse("“{}” is in no directory that came before it.", member.name) from None
        finally:
            os.close(place)
    while rest := source.read(CHUNK):
        meter.count(len(rest))
        if rest.strip(b"\0"):
            raise Refusal("failed", "The archive goes on after its end.")


def _place(folder: int, name: str, member: tarfile.TarInfo, source: BinaryIO, meter: Meter) -> None:
    if member.type not in (tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.DIRTYPE, tarfile.SYMTYPE):
        raise refuse(NO_FILE, member.name)
    if member.isdir():
        os.mkdir(name, 0o700 | member.mode & 0o755, dir_fd=folder)
        return
    if member.issym():
        check_link(member.name, member.linkname)
        os.symlink(member.linkname, name, dir_fd=folder)
        return
    meter.count(padded(member.size))
    descriptor = os.open(name, MAKE, 0o600, dir_fd=folder)
    try:
        for begin in range(0, member.size, CHUNK):
            write_all(descriptor, _exactly(source, min(CHUNK, member.size - begin)))
        _exactly(source, padded(member.size) - member.size)
        os.fchmod(descriptor, 0o600 | member.mode & 0o755)
        moment = min(max(0, member.mtime), LATEST)
        os.utime(descriptor, (moment, moment))
    finally:
        os.close(descriptor)


def _next(source: BinaryIO, meter: Meter) -> tarfile.TarInfo | None:
    member = _member(source, meter)
    if not member or member.type != tarfile.XHDTYPE:
        return member
    if member.size > RECORD_BYTES:
        raise Refusal("failed", "An entry of the archive has too long a description.")
    meter.count(padded(member.size))
    records = _records(_exactly(source, padded(member.size))[: member.size])
    member = _member(source, meter)
    if not member or member.type == tarfile.XHDTYPE:
        raise Refusal("failed", "The archive describes an entry that does not come.")
    member.name = records.get("path", member.name)
    member.linkname = records.get("linkpath", member.linkname)
    size = records.get("size", str(member.size))
    if not size.isascii() or not size.isdigit() or len(size) > LONGEST_SIZE:
        raise refuse("“{}” has no proper size.", member.name)
    member.size = int(size)
    return member


def _member(source: BinaryIO, meter: Meter) -> tarfile.TarInfo | None:
    meter.count(BLOCK)
    block = _exactly(source, BLOCK)
    if not block.strip(b"\0"):
        return None
    try:
        member = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        raise Refusal("failed", "What came is not a tar archive.") from None
    if member.size < 0:
        raise refuse("“{}” has no proper size.", member.name)
    return member


def _records(data: bytes) -> dict[str, str]:
    records = {}
    while data:
        digits, _, _ = data.partition(b" ")
        length = int(digits) if digits.isdigit() and len(digits) < 8 else 0
        key, equals, value = data[len(digits) + 1 : length - 1].partition(b"=")
        if not equals or data[length - 1 : length] != b"\n":
            raise Refusal("failed", "An entry of the archive has a broken description.")
        records[os.fsdecode(key)] = os.fsdecode(value)
        data = data[length:]
    return records


def _exactly(source: BinaryIO, size: int) -> bytes:
    data = source.read(size)
    if len(data) != size:
        raise Refusal("failed", "The archive ends too early.")
    return data
