"""Starting programs, catching what they write, and ending them with all they left behind."""

# ruff: noqa: PTH113, PTH123, PTH208, SIM105

import os
import signal
import time

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def find_program(name: str, path: str) -> str:
    if "/" in name:
        return name
    files = [file for folder in path.split(":") if os.path.isfile(file := f"{folder or '.'}/{name}")]
    if not files or not name:
        raise FileNotFoundError(2, "No such program", name)
    return next((file for file in files if os.access(file, os.X_OK)), files[0])


def spawn(argv: list[str], env: dict[str, str], descriptors: dict[int, int]) -> int:
    return os.posix_spawn(
        find_program(argv[0], env.get("PATH", PATH)),
        argv,
        env,
        file_actions=[(os.POSIX_SPAWN_DUP2, ours, theirs) for theirs, ours in descriptors.items()],
        setsid=True,
        setsigmask=[],
        setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
    )


class Capture:
    """What comes out of a pipe, the first `limit` bytes of it."""

    def __init__(self, limit: int) -> None:
        self.pipe, self.inlet = os.pipe()
        os.set_blocking(self.pipe, False)
        self.limit, self.data, self.truncated = limit, bytearray(), False

    def pump(self) -> int:
        """How much came: 0 at the end, -1 when there is nothing now."""
        try:
            chunk = os.read(self.pipe, 64 << 10)
        except BlockingIOError:
            return -1
        room = self.limit - len(self.data)
        self.data += chunk[:room]
        self.truncated |= len(chunk) > room
        return len(chunk)

    def take(self) -> tuple[bytes, bool]:
        taken = bytes(self.data), self.truncated
        self.data, self.truncated = bytearray(), False
        return taken


def reap(pid: int) -> tuple[int | None, bool]:
    """The exit code of `pid` if it ended just now, and whether any child is left."""
    code = None
    while True:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code, False
        if not child:
            return code, True
        if child == pid:
            code = os.waitstatus_to_exitcode(status)
            code = 128 - code if code < 0 else code


def descendants() -> list[tuple[int, int]]:
    """Process and group ids of everything below this process, which adopts whoever tries to get away."""
    children: dict[int, list[tuple[int, int]]] = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                _, parent, group = file.read().rpartition(b")")[2].split()[:3]
        except (OSError, ValueError):
            continue
        children.setdefault(int(parent), []).append((int(name), int(group)))
    found, unseen = [], [os.getpid()]
    while unseen:
        below = children.get(unseen.pop(), [])
        found += below
        unseen += [pid for pid, _ in below]
    return found


def kill(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def kill_descendants() -> None:
    """A group dies in one stroke, so a program that keeps forking cannot outrun this."""
    give_up = time.monotonic() + 10
    while (victims := descendants()) and time.monotonic() < give_up:
        for group in {group for _, group in victims} - {os.getpgrp(), 0}:
            kill(-group, signal.SIGKILL)
        for pid, _ in victims:
            kill(pid, signal.SIGKILL)
        time.sleep(0.002)
        reap(0)
