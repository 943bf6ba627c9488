"""One digest for a whole tree: path, type, mode, owner, content, link target. Times do not count."""

import hashlib
import os
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Tree:
    digest: str
    size: int


def measure(root: Path) -> Tree:
    entries = sorted(_entries(root))
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        contents = pool.map(lambda entry: _content(*entry), entries, chunksize=256)
        whole, size, counted = hashlib.sha256(), 0, set()
        for (path, found), content in zip(entries, contents, strict=True):
            whole.update(os.fsencode(os.path.relpath(path, root)))
            whole.update(f"\0{found.st_mode:o}\0{found.st_uid}:{found.st_gid}\0{content}\n".encode())
            if stat.S_ISREG(found.st_mode) and found.st_ino not in counted:
                counted.add(found.st_ino)
                size += found.st_size
    return Tree(whole.hexdigest(), size)


def _entries(directory: Path | str) -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(directory) as entries:
        for entry in entries:
            yield entry.path, entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(entry.path)


def _content(path: str, found: os.stat_result) -> str:
    if stat.S_ISLNK(found.st_mode):
        return f"to {os.fsencode(os.readlink(path)).hex()}"  # noqa: PTH115
    if stat.S_ISREG(found.st_mode):
        with open(path, "rb") as file:  # noqa: PTH123
            return hashlib.file_digest(file, "sha256").hexdigest()
    return str(found.st_rdev)
