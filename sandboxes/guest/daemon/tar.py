"""Directories as tar, for both ends: each writes what it has and takes what it reads to be written by an attacker.

This module has the rules and writes; `untar` reads.
"""

import errno
import os
import stat
import tarfile
from collections.abc import Iterable, Iterator
from itertools import takewhile

from .protocol import CHUNK, Refusal

BLOCK, END = tarfile.BLOCKSIZE, bytes(2 * tarfile.BLOCKSIZE)
DEPTH, NAME_BYTES, PATH_BYTES = 32, 255, 4000
LATEST = 0o77777777777
READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
NO_FILE = "“{}” is neither file, directory nor symbolic link."
CHANGED = "“{}” changed while it was read."


class Meter:
    """Counts the archive's own bytes, so that a million empty files are not free."""

    def __init__(self, most_bytes: int, most_entries: int) -> None:
        self.most_bytes, self.most_entries = most_bytes, most_entries
        self.bytes = self.entries = 0

    def count(self, size: int, entries: int = 0) -> None:
        self.bytes += size
        self.entries += entries
        if self.bytes > self.most_bytes:
            raise Refusal("limit", f"The directory has more than {self.most_bytes} bytes.")
        if self.entries > self.most_entries:
            raise Refusal("limit", f"The directory has more than {self.most_entries} entries.")


def refuse(sentence: str, path: str) -> Refusal:
    return Refusal("failed", sentence.format(path[:200]))


def steps(path: str) -> list[str]:
    """The names on the way to an entry, none of which leads anywhere but down."""
    names = path.removesuffix("/").split("/")
    if path.startswith("/"):
        raise refuse("“{}” is an absolute path.", path)
    if "" in names or "." in names or ".." in names or "\0" in path:
        raise refuse("“{}” is not a plain path below the directory.", path)
    if len(names) > DEPTH:
        raise refuse(f"“{{}}” lies more than {DEPTH} directories deep.", path)
    if len(os.fsencode(path)) > PATH_BYTES or any(len(os.fsencode(name)) > NAME_BYTES for name in names):
        raise refuse("“{}” has too long a name.", path)
    return names


def check_link(path: str, target: str) -> None:
    """A way up may only be the beginning of a link: after another link, it would start from elsewhere."""
    names = [name for name in target.split("/") if name not in ("", ".")]
    up = len(list(takewhile("..".__eq__, names)))
    if target.startswith("/") or up > path.count("/") or ".." in names[up:]:
        raise refuse("“{}” is a link that may lead out of the directory.", path)
    if not target or "\0" in target or len(os.fsencode(target)) > PATH_BYTES:
        raise refuse("“{}” is a link to nothing that can exist.", path)


def pack(folder: int, meter: Meter) -> Iterator[bytes]:
    """An archive, without entries that vanish on the way. Raises Refusal, and OSError for what may not be read."""
    yield from thick(_pack(folder, "", meter))
    yield END


def thick(pieces: Iterable[bytes]) -> Iterator[bytes]:
    held = bytearray()
    for piece in pieces:
        held += piece
        if len(held) >= CHUNK // 4:
            yield bytes(held)
            held.clear()
    if held:
        yield bytes(held)


def _pack(folder: int, prefix: str, meter: Meter) -> Iterator[bytes]:
    with os.scandir(folder) as found:
        for item in found:
            path = prefix + item.name
            steps(path)
            try:
                info, descriptor, target = _look(folder, item, path)
            except FileNotFoundError:
                continue
            if descriptor is None:
                yield _header(meter, path, info, tarfile.SYMTYPE, target=target)
                continue
            try:
                yield from _pack_opened(descriptor, path, info, meter)
            finally:
                os.close(descriptor)


def _look(folder: int, item: os.DirEntry[str], path: str) -> tuple[os.stat_result, int | None, str]:
    """What is there, opened if it can be, and the target of a link. Errors name the whole path."""
    descriptor = None
    try:
        info = item.stat(follow_symlinks=False)
        if stat.S_ISLNK(info.st_mode):
            target = os.readlink(item.name, dir_fd=folder)
            check_link(path, target)
            return info, None, target
        if not stat.S_ISREG(info.st_mode) and not stat.S_ISDIR(info.st_mode):
            raise refuse(NO_FILE, path)
        descriptor = os.open(item.name, READ, dir_fd=folder)
        now = os.fstat(descriptor)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EINVAL):
            raise refuse(CHANGED, path) from None
        raise type(error)(error.errno, error.strerror, path) from None
    if stat.S_IFMT(now.st_mode) != stat.S_IFMT(info.st_mode):
        os.close(descriptor)
        raise refuse(CHANGED, path)
    return now, descriptor, ""


def _pack_opened(descriptor: int, path: str, info: os.stat_result, meter: Meter) -> Iterator[bytes]:
    if stat.S_ISDIR(info.st_mode):
        yield _header(meter, path, info, tarfile.DIRTYPE)
        yield from _pack(descriptor, f"{path}/", meter)
        return
    meter.count(padded(info.st_size))
    yield _header(meter, path, info, tarfile.REGTYPE, size=info.st_size)
    yield from _content(descriptor, path, info.st_size)


def _header(meter: Meter, path: str, info: os.stat_result, kind: bytes, *, size: int = 0, target: str = "") -> bytes:
    member = tarfile.TarInfo(path)
    member.type, member.size, member.linkname = kind, size, target
    member.mode, member.mtime = info.st_mode & 0o777, min(max(0, int(info.st_mtime)), LATEST)
    header = member.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
    meter.count(len(header), entries=1)
    return header


def _content(descriptor: int, path: str, size: int) -> Iterator[bytes]:
    left = size
    while left:
        chunk = os.read(descriptor, min(left, CHUNK))
        if not chunk:
            raise refuse(CHANGED, path)
        left -= len(chunk)
        yield chunk
    yield bytes(padded(size) - size)


def padded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK
