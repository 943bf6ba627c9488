"""Files, as the user who asks. The worker opens them; the server, which gets the descriptor, moves the bytes."""

# ruff: noqa: PTH103, PTH104, PTH108, PTH110, PTH116, PTH119, PTH120

import errno
import json
import os
import stat
import time

from .people import act_as, person_of
from .protocol import CHUNK, Channel, Header, Refusal, want, want_between

ENTRIES = 20_000


def read(channel: Channel, job: Header) -> None:
    path = want(job, "path", str)
    act_as(person_of(job))
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        size = regular(path, os.fstat(descriptor)).st_size
        channel.send({"ok": True, "size": size}, descriptors=(descriptor,))
    finally:
        os.close(descriptor)


def write(channel: Channel, job: Header) -> None:
    path = want(job, "path", str)
    act_as(person_of(job))
    target = os.path.realpath(path)
    if path.endswith("/"):
        raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    old = regular(path, os.stat(target)) if os.path.exists(target) else None
    if old and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "Permission denied", path)
    mode = want_between(job, "mode", stat.S_IMODE(old.st_mode) if old else 0o644, 0o7777)
    try:
        draft, descriptor = make_draft(os.path.dirname(target), old, mode)
    except PermissionError:
        if not old:
            raise
        draft, descriptor = "", os.open(target, os.O_WRONLY | os.O_TRUNC)
    try:
        channel.send({"ok": True}, descriptors=(descriptor,))
        if channel.header().get("commit") is True and draft:
            os.rename(draft, target)
            draft = ""
    finally:
        os.close(descriptor)
        if draft:
            os.unlink(draft)
    channel.send({"ok": True})


def describe(channel: Channel, job: Header) -> None:
    path = want(job, "path", str)
    act_as(person_of(job))
    channel.send({"ok": True, "entry": entry(os.path.basename(path), os.lstat(path))})


def enlist(channel: Channel, job: Header) -> None:
    act_as(person_of(job))
    truncated = False
    entries: list[Header] = []
    with os.scandir(want(job, "path", str)) as found:
        for item in found:
            if truncated := len(entries) == ENTRIES:
                break
            try:
                entries.append(entry(item.name, item.stat(follow_symlinks=False)))
            except FileNotFoundError:
                continue
    channel.send({"ok": True, "truncated": truncated}, json.dumps(entries).encode())


def regular(path: str, info: os.stat_result) -> os.stat_result:
    if stat.S_ISDIR(info.st_mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
    if not stat.S_ISREG(info.st_mode):
        raise Refusal("failed", f"{path} is not a regular file.")
    return info


def make_draft(folder: str, old: os.stat_result | None, mode: int) -> tuple[str, int]:
    path = f"{folder}/.godhand-{os.getpid()}-{time.monotonic_ns()}"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        if old and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
            os.fchown(descriptor, old.st_uid, old.st_gid)
        os.fchmod(descriptor, mode)
    except OSError:
        os.close(descriptor)
        os.unlink(path)
        raise
    return path, descriptor


def entry(name: str, info: os.stat_result) -> Header:
    kinds = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink"}
    kind = kinds.get(stat.S_IFMT(info.st_mode), "other")
    mode, modified = stat.S_IMODE(info.st_mode), info.st_mtime
    return {"name": name, "kind": kind, "size": info.st_size, "mode": mode, "modified": modified}


def write_all(descriptor: int, data: bytes, at: int | None = None) -> None:
    view = memoryview(data)
    while view:
        done = os.write(descriptor, view) if at is None else os.pwrite(descriptor, view, at)
        view, at = view[done:], None if at is None else at + done


def read_unsized(descriptor: int, limit: int) -> bytes:
    data = b""
    while len(data) < limit and (chunk := os.read(descriptor, CHUNK)):
        data += chunk
    return data[:limit]
