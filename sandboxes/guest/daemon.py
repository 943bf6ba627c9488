"""The daemon inside every machine: commands, shells and files for whoever knows the machine's token.

One file, standard library only, because it is copied into the image. Three kinds of process: the server (one
thread per connection), a single-threaded nursery that only forks, and workers that act as the machine's users.
Workers are kept and used again, since a fork costs more than the command it is for. `docs/guest.md` is the
contract.
"""

# pathlib, contextlib and argparse would cost every machine some 20 ms each when it boots.
# ruff: noqa: PTH103, PTH104, PTH105, PTH108, PTH110, PTH113, PTH116, PTH119, PTH120, PTH123, PTH208, SIM105

import errno
import json
import os
import pwd
import select
import signal
import socket
import stat
import sys
import threading
import time
from _operator import _compare_digest as compare_digest  # what hmac has, without loading OpenSSL at boot
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, TypeVar

VERSION = 1
HELLO_LIMIT, HEADER_LIMIT, BODY_LIMIT = 4 << 10, 8 << 20, 4 << 30
CHUNK, OUTPUT_LIMIT, UNSIZED_LIMIT = 256 << 10, 64 << 20, 16 << 20
CONNECTIONS, STRANGERS, SESSIONS, IDLE_WORKERS, ENTRIES = 64, 32, 16, 4, 20_000
REMEMBERED, REMEMBERED_BYTES = 4096, 32 << 20
HELLO_SECONDS, STALL_SECONDS, IDLE_SECONDS = 5, 60, 3600
GRACE, INTERRUPT_SECONDS, LONGEST = 0.2, 2.0, 86_400.0
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
KINDS: dict[type[OSError], str] = {
    FileNotFoundError: "not_found",
    IsADirectoryError: "is_directory",
    NotADirectoryError: "not_directory",
    FileExistsError: "not_directory",
    PermissionError: "permission",
}
Header = dict[str, Any]
Entries = list[Header]  # inside Worker, `list` is a method
T = TypeVar("T", str, int, float, bool, list[Any], dict[str, Any])


class Hangup(Exception):
    """The other side is gone; nobody is left to answer."""


class Malformed(Exception):
    """What came is not the protocol; the conversation cannot go on."""


class Refusal(Exception):
    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.header: Header = {"ok": False, "error": kind, "message": message[:500]}


def refusal_of(error: OSError) -> Refusal:
    return Refusal(KINDS.get(type(error), "failed"), f"{error.strerror or error}: {error.filename or ''}")


def parse_header(line: bytes) -> Header:
    try:
        header = json.loads(line)
    except (ValueError, RecursionError):
        raise Malformed("A request is one line of JSON.") from None
    if not isinstance(header, dict):
        raise Malformed("A request is a JSON object.")
    return header


def want(header: Header, name: str, kind: type[T], default: T | None = None) -> T:
    value = header.get(name, default)
    if kind is float and isinstance(value, int):
        value = float(min(max(value, -1), 1 << 60))
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Refusal("bad_request", f"“{name}” is missing or not of type {kind.__name__}.")
    return value


def want_between(header: Header, name: str, default: int, most: int) -> int:
    value = want(header, name, int, default)
    if not 0 <= value <= most:
        raise Refusal("bad_request", f"“{name}” must be from 0 to {most}.")
    return value


def want_timeout(header: Header, default: float) -> float:
    seconds = want(header, "timeout", float, default)
    if not 0 < seconds <= LONGEST:
        raise Refusal("bad_request", f"“timeout” must be above 0 and at most {LONGEST:.0f} seconds.")
    return seconds


def is_text(value: object) -> bool:
    """Whether the system can be given it, raising ValueError for characters that no encoding has."""
    return isinstance(value, str) and b"\0" not in os.fsencode(value)


def want_words(header: Header, name: str) -> list[str]:
    words = want(header, name, list)
    if not words or not all(map(is_text, words)):
        raise Refusal("bad_request", f"“{name}” must be a list of at least one text.")
    return words


def want_env(header: Header) -> dict[str, str]:
    env = want(header, "env", dict, {})
    if not all(name and "=" not in name and is_text(name) and is_text(value) for name, value in env.items()):
        raise Refusal("bad_request", "“env” must map names to texts.")
    return env


class Channel:
    """Lines of JSON, each followed by the bytes it announces. Between our own processes descriptors ride along."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.descriptors: list[int] = []
        self._buffer = bytearray()
        self._local = sock.family == socket.AF_UNIX

    def _receive(self, size: int) -> bytes:
        try:
            if self._local:
                data, descriptors, _, _ = socket.recv_fds(self.sock, size, 4)
                for descriptor in descriptors:
                    os.set_inheritable(descriptor, False)
                self.descriptors += descriptors
            else:
                data = self.sock.recv(size)
        except OSError:
            raise Hangup from None
        if not data:
            raise Hangup
        return data

    def header(self, limit: int = HEADER_LIMIT) -> Header:
        searched = 0
        while (end := self._buffer.find(b"\n", searched)) < 0:
            searched = len(self._buffer)
            if searched > limit:
                raise Malformed(f"A header has at most {limit} bytes.")
            self._buffer += self._receive(CHUNK)
        line = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return parse_header(line)

    def chunks(self, size: int) -> Iterator[bytes]:
        while size:
            if self._buffer:
                chunk = bytes(self._buffer[:size])
                del self._buffer[:size]
            else:
                chunk = self._receive(min(size, CHUNK))
            size -= len(chunk)
            yield chunk

    def send(self, header: Header, *parts: bytes, descriptors: tuple[int, ...] = ()) -> None:
        line = json.dumps({"sizes": [len(part) for part in parts]} | header).encode() + b"\n"
        if descriptors:
            line = line[socket.send_fds(self.sock, [line], descriptors) :]
        if len(line) + sum(map(len, parts)) < CHUNK:
            self.sock.sendall(line + b"".join(parts))
            return
        for piece in (line, *parts):
            self.sock.sendall(piece)

    def drop_descriptors(self) -> None:
        while self.descriptors:
            os.close(self.descriptors.pop())

    def close(self) -> None:
        self.drop_descriptors()
        self.sock.close()


# -- The worker: one job at a time, as one of the machine's users ------------------------------------------------


def person_of(job: Header) -> pwd.struct_passwd:
    name = want(job, "user", str, "agent")
    try:
        return pwd.getpwnam(name)
    except (KeyError, ValueError):
        raise Refusal("unknown_user", f"There is no user “{name}” in the machine.") from None


known_groups: dict[tuple[str, int, int], list[int]] = {}


def groups_of(person: pwd.struct_passwd) -> list[int]:
    """Remembered while nobody edits the group file: looking them up takes as long as the rest of a small job."""
    key = person.pw_name, person.pw_gid, os.stat("/etc/group").st_mtime_ns
    if key not in known_groups:
        known_groups.clear()
        known_groups[key] = os.getgrouplist(person.pw_name, person.pw_gid)
    return known_groups[key]


def become(person: pwd.struct_passwd) -> None:
    """Act as this person until `become_root`. The saved id stays root's here; executing a program drops it."""
    os.setgroups(groups_of(person))
    os.setresgid(person.pw_gid, person.pw_gid, 0)
    os.setresuid(person.pw_uid, person.pw_uid, 0)


def become_root() -> None:
    os.setresuid(0, 0, 0)
    os.setresgid(0, 0, 0)
    os.setgroups([])
    os.chdir("/")


def act_as(person: pwd.struct_passwd) -> None:
    become(person)
    try:
        os.chdir(person.pw_dir)
    except OSError:
        os.chdir("/")


def environment(person: pwd.struct_passwd, extra: dict[str, str]) -> dict[str, str]:
    return {
        "HOME": person.pw_dir,
        "USER": person.pw_name,
        "LOGNAME": person.pw_name,
        "SHELL": person.pw_shell or "/bin/sh",
        "PATH": PATH,
        "LANG": "C.UTF-8",
        "DISPLAY": ":1",
        "XDG_RUNTIME_DIR": f"/run/user/{person.pw_uid}",
    } | extra


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


class Worker:
    """One job after the other, each as the user it asks for. A worker that hosts a shell stays with it."""

    def __init__(self, channel: Channel) -> None:
        import ctypes

        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
        self.channel = channel
        self.shell: Shell | None = None
        self.wake, wakes = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(wakes, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)

    def work(self) -> NoReturn:
        jobs = {"exec": self.exec, "read": self.read, "write": self.write, "stat": self.stat}
        jobs |= {"list": self.list, "bash": self.bash}
        while True:
            if self.shell:
                self.shell.idle(self.channel.sock.fileno())
            job = self.channel.header()
            try:
                jobs[job["op"]](job)
            except Refusal as refusal:
                self.channel.send(refusal.header)
            except OSError as error:
                self.channel.send(refusal_of(error).header)
            except ValueError as error:
                self.channel.send(Refusal("bad_request", str(error)).header)
            finally:
                become_root()
                self.channel.drop_descriptors()

    def exec(self, job: Header) -> None:
        argv, timeout, person = want_words(job, "argv"), want_timeout(job, 30.0), person_of(job)
        env, limit = environment(person, want_env(job)), want_between(job, "output_limit", 10 << 20, OUTPUT_LIMIT)
        act_as(person)
        os.chdir(want(job, "cwd", str, "."))
        if not self.channel.descriptors:
            self.channel.descriptors.append(os.open("/dev/null", os.O_RDONLY))
        out, err = Capture(limit), Capture(limit)
        pid, code = 0, None
        try:
            pid = spawn(argv, env, {0: self.channel.descriptors[0], 1: out.inlet, 2: err.inlet})
        except OSError as error:
            code = 127 if isinstance(error, FileNotFoundError) else 126
            err.data += os.fsencode(f"{argv[0][:200]}: {error.strerror}\n")
        finally:
            become_root()
            os.close(out.inlet)
            os.close(err.inlet)
        if pid and (code := self.follow(pid, [out, err], timeout)) is None:
            kill_descendants()
        os.close(out.pipe)
        os.close(err.pipe)
        answer: Header = {"ok": True, "returncode": 137 if code is None else code, "timed_out": code is None}
        answer |= {"truncated": [out.truncated, err.truncated], "spent": reap(0)[1]}
        self.channel.send(answer, bytes(out.data), bytes(err.data))

    def follow(self, pid: int, captures: list[Capture], timeout: float) -> int | None:
        """The program's code, or None when time is up. Whoever inherited its pipes is not waited for."""
        poller, pipes = select.poll(), {capture.pipe: capture for capture in captures}
        for descriptor in (self.wake, *pipes):
            poller.register(descriptor, select.POLLIN)
        code, deadline = None, time.monotonic() + timeout
        while (left := deadline - time.monotonic()) > 0 and (code is None or pipes):
            for descriptor, _ in poller.poll(left * 1000 + 1):
                if descriptor == self.wake:
                    os.read(self.wake, 4096)
                elif not pipes[descriptor].pump():
                    poller.unregister(descriptor)
                    del pipes[descriptor]
            if code is None and (code := reap(pid)[0]) is not None:
                deadline = time.monotonic() + GRACE
        return code

    def read(self, job: Header) -> None:
        path = want(job, "path", str)
        act_as(person_of(job))
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            size = regular(path, os.fstat(descriptor)).st_size
            self.channel.send({"ok": True, "size": size}, descriptors=(descriptor,))
        finally:
            os.close(descriptor)

    def write(self, job: Header) -> None:
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
            self.channel.send({"ok": True}, descriptors=(descriptor,))
            if self.channel.header().get("commit") is True and draft:
                os.rename(draft, target)
                draft = ""
        finally:
            os.close(descriptor)
            if draft:
                os.unlink(draft)
        self.channel.send({"ok": True})

    def stat(self, job: Header) -> None:
        path = want(job, "path", str)
        act_as(person_of(job))
        self.channel.send({"ok": True, "entry": entry(os.path.basename(path), os.lstat(path))})

    def list(self, job: Header) -> None:
        act_as(person_of(job))
        truncated = False
        entries: Entries = []
        with os.scandir(want(job, "path", str)) as found:
            for item in found:
                if truncated := len(entries) == ENTRIES:
                    break
                try:
                    entries.append(entry(item.name, item.stat(follow_symlinks=False)))
                except FileNotFoundError:
                    continue
        self.channel.send({"ok": True, "truncated": truncated}, json.dumps(entries).encode())

    def bash(self, job: Header) -> None:
        command, timeout, person = want(job, "command", str), want_timeout(job, 120.0), person_of(job)
        if not is_text(command):
            raise Refusal("bad_request", "A command has no NUL in it.")
        self.shell = self.shell or Shell(self.wake, person)
        self.shell.output.limit = want_between(job, "output_limit", 1 << 20, OUTPUT_LIMIT)
        answer = self.shell.run(os.fsencode(command), timeout)
        output, truncated = self.shell.output.take()
        self.channel.send({"ok": True, "truncated": truncated} | answer, output)


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


class Shell:
    """A bash that reads commands from a file of ours and reports each end on a pipe that no command inherits.

    It is interactive, without a terminal, because only an interactive shell drops the whole command line when
    it is interrupted and goes on with its state; what it starts with `&` does not hear the interrupt.
    """

    ARGV = ["bash", "--noprofile", "--norc", "--noediting", "-i"]
    SETUP = b"PS1= PS2= HISTFILE=; set +H +o history; "
    RUN = b"IFS= read -r -d '' __command </proc/self/fd/197; eval \"$__command\" </dev/null 197>&- 198>&-; "

    def __init__(self, wake: int, person: pwd.struct_passwd) -> None:
        self.wake, self.person = wake, person
        self.output, self.script = Capture(1 << 20), os.memfd_create("command")
        self.pid = self.serial = self.commands = self.reports = 0

    def start(self) -> None:
        commands, self.commands = os.pipe()
        self.reports, reports = os.pipe()
        act_as(self.person)
        out = self.output.inlet
        try:
            descriptors = {0: commands, 1: out, 2: out, 197: self.script, 198: reports}
            self.pid = spawn(self.ARGV, environment(self.person, {}), descriptors)
        finally:
            become_root()
            os.close(commands)
            os.close(reports)
        self.ask(self.SETUP, 10)
        self.output.take()

    def ask(self, line: bytes, timeout: float) -> int | None:
        """The exit status after that line, or None when time is up. `pid` is 0 afterwards if the shell ended."""
        self.serial += 1
        mark, seen, deadline = b"%d " % self.serial, b"\n", time.monotonic() + timeout
        os.write(self.commands, line + b"printf '%s%%d\\n' $? >&198\n" % mark)
        poller = select.poll()
        for descriptor in (self.reports, self.wake, self.output.pipe):
            poller.register(descriptor, select.POLLIN)
        code = None
        while code is None and (left := deadline - time.monotonic()) > 0:
            for descriptor, _ in poller.poll(left * 1000 + 1):
                if descriptor == self.output.pipe:
                    self.output.pump()
                elif descriptor == self.wake:
                    os.read(self.wake, 4096)
                    ended = self.notice_end()
                    code = ended if code is None else code
                elif report := os.read(self.reports, 100):
                    seen = seen[-100:] + report
                    code = self.code_in(seen, mark)
                else:
                    poller.unregister(descriptor)
        for _ in range(64):
            if self.output.pump() <= 0:
                break
        return code

    def code_in(self, seen: bytes, mark: bytes) -> int | None:
        _, found, report = seen.rpartition(b"\n" + mark)
        return int(report) if found and report.endswith(b"\n") and report[:-1].isdigit() else None

    def notice_end(self) -> int | None:
        code, _ = reap(self.pid)
        if self.pid and code is not None:
            os.close(self.commands)
            os.close(self.reports)
            self.pid = 0
        return code

    def run(self, command: bytes, timeout: float) -> Header:
        self.notice_end()
        if not self.pid:
            self.start()
        os.ftruncate(self.script, 0)
        write_all(self.script, command + b"\0", at=0)
        code = self.ask(self.RUN, timeout)
        if timed_out := code is None:
            code = 130
            kill(-self.pid, signal.SIGINT)
            if self.ask(b"", INTERRUPT_SECONDS) is None:
                code = 137
                kill(-self.pid, signal.SIGKILL)
                while self.notice_end() is None and self.pid:
                    time.sleep(0.002)
                kill_descendants()
        return {"exit_code": code, "timed_out": timed_out, "restarted": not self.pid}

    def idle(self, until: int) -> None:
        """Background jobs go on writing between commands; their output belongs to the next answer."""
        poller = select.poll()
        for descriptor in (until, self.wake, self.output.pipe):
            poller.register(descriptor, select.POLLIN)
        while True:
            for descriptor, _ in poller.poll():
                if descriptor == until:
                    return
                if descriptor == self.wake:
                    os.read(self.wake, 4096)
                    self.notice_end()
                else:
                    self.output.pump()


def write_all(descriptor: int, data: bytes, at: int | None = None) -> None:
    view = memoryview(data)
    while view:
        done = os.write(descriptor, view) if at is None else os.pwrite(descriptor, view, at)
        view, at = view[done:], None if at is None else at + done


def nursery(control: socket.socket) -> NoReturn:
    """Fork a worker for every byte received and hand back its channel."""
    while control.recv(1):
        ours, theirs = socket.socketpair()
        if not os.fork():
            control.close()
            ours.close()
            worker = Worker(Channel(theirs))
            try:
                worker.work()
            except (Hangup, OSError):
                if worker.shell:
                    kill_descendants()
            finally:
                os._exit(0)
        theirs.close()
        socket.send_fds(control, [b"+"], [ours.fileno()])
        ours.close()
        reap(0)
    os._exit(0)


# -- The server: one thread per connection ------------------------------------------------------------------------

Answer = tuple[Header, list[bytes]]


class Workers:
    """Made by a process without threads, for only such a process may fork."""

    def __init__(self) -> None:
        self.lock, self.idle = threading.Lock(), list[Channel]()
        self.nursery, theirs = socket.socketpair()
        if not os.fork():
            self.nursery.close()
            nursery(theirs)
        theirs.close()

    def borrow(self) -> Channel:
        with self.lock:
            if self.idle:
                return self.idle.pop()
            self.nursery.sendall(b"+")
            _, descriptors, _, _ = socket.recv_fds(self.nursery, 1, 1)
        if not descriptors:
            os._exit(1)
        return Channel(socket.socket(fileno=descriptors[0]))

    def give_back(self, worker: Channel) -> None:
        with self.lock:
            if len(self.idle) < IDLE_WORKERS:
                self.idle.append(worker)
                return
        worker.close()

    def warm_up(self) -> None:
        for worker in [self.borrow(), self.borrow()]:
            self.give_back(worker)


class Operation:
    def __init__(self) -> None:
        self.done = threading.Event()
        self.answer: Answer | None = None


class Operations:
    """Answers by operation id, so that what is asked twice happens once. The oldest answers are let go first."""

    def __init__(self) -> None:
        self.lock, self.known = threading.Lock(), dict[str, Operation]()
        self.heavy, self.size = list[Operation](), 0

    def once(self, op_id: str, run: Callable[[], Answer]) -> Answer:
        """Raises what `run` raises, and then the operation counts as never begun; a Refusal is an answer."""
        while True:
            with self.lock:
                operation = self.known.get(op_id)
                if operation is None:
                    operation = self.known[op_id] = Operation()
                    break
            operation.done.wait()
            if operation.answer:
                return operation.answer
        try:
            operation.answer = answer = run()
        except Refusal as refusal:
            operation.answer = answer = refusal.header, []
        finally:
            with self.lock:
                self.keep(op_id, operation)
            operation.done.set()
        return answer

    def keep(self, op_id: str, operation: Operation) -> None:
        if not operation.answer:
            del self.known[op_id]
            return
        weight = sum(map(len, operation.answer[1]))
        if weight:
            self.heavy.append(operation)
            self.size += weight
        while self.size > REMEMBERED_BYTES:
            oldest = self.heavy.pop(0)
            self.size -= sum(map(len, oldest.answer[1])) if oldest.answer else 0
            oldest.answer = Refusal("forgotten", "This was done; its answer is no longer kept.").header, []
        if len(self.known) > REMEMBERED:
            del self.known[next(name for name, known in self.known.items() if known.answer)]


class Session:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.worker: Channel | None = None


class Server:
    def __init__(self, token: str, token_file: str, workers: Workers) -> None:
        self.token, self.token_file, self.workers = token.encode(), token_file, workers
        self.lock, self.operations = threading.Lock(), Operations()
        self.strangers, self.friends = dict[socket.socket, None](), set[socket.socket]()
        self.sessions: dict[tuple[str, str], Session] = {}
        self.instance = os.urandom(8).hex()

    def serve(self, listener: socket.socket) -> NoReturn:
        while True:
            try:
                sock, _ = listener.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
                self.welcome(sock)
                threading.Thread(target=self.converse, args=(sock,), daemon=True).start()
            except (OSError, RuntimeError):
                time.sleep(0.01)

    def welcome(self, sock: socket.socket) -> None:
        """Who holds the token says so at once, so the stranger that has waited longest makes room."""
        with self.lock:
            if len(self.strangers) >= STRANGERS:
                hang_up(next(iter(self.strangers)))
                del self.strangers[next(iter(self.strangers))]
            self.strangers[sock] = None

    def converse(self, sock: socket.socket) -> None:
        channel = Channel(sock)
        try:
            sock.settimeout(HELLO_SECONDS)
            self.admit(channel)
            while True:
                sock.settimeout(IDLE_SECONDS)
                header = channel.header()
                sock.settimeout(STALL_SECONDS)
                self.answer(channel, header)
        except (Malformed, Refusal) as error:
            refusal = error if isinstance(error, Refusal) else Refusal("malformed", str(error))
            try:
                channel.send(refusal.header)
            except OSError:
                pass
        except (Hangup, OSError):
            pass
        finally:
            with self.lock:
                self.strangers.pop(sock, None)
                self.friends.discard(sock)
            channel.close()

    def admit(self, channel: Channel) -> None:
        offered = want(channel.header(HELLO_LIMIT), "token", str).encode(errors="replace")
        with self.lock:
            if not compare_digest(offered, self.token):
                raise Refusal("token", "The token is wrong.")
            if len(self.friends) >= CONNECTIONS:
                raise Refusal("busy", "The machine has too many connections.")
            self.strangers.pop(channel.sock, None)
            self.friends.add(channel.sock)
        channel.send({"ok": True, "version": VERSION, "instance": self.instance})

    def answer(self, channel: Channel, header: Header) -> None:
        size = header.get("body", 0)
        if type(size) is not int or not 0 <= size <= BODY_LIMIT:
            raise Malformed(f"“body” must be from 0 to {BODY_LIMIT}.")
        body = channel.chunks(size)
        try:
            if header.get("op") == "read":
                self.read(channel, header)
                return
            if header.get("op") == "rekey":
                self.rekey(channel, header)
            answer, parts = self.perform(header, body)
        except Refusal as refusal:
            answer, parts = refusal.header, []
        for _ in body:
            pass
        channel.send(answer, *parts)

    def perform(self, header: Header, body: Iterator[bytes]) -> Answer:
        op = want(header, "op", str)
        doers: dict[str, Callable[[Header, Iterator[bytes]], Answer]] = {
            "ping": lambda *_: ({"ok": True}, []),
            "exec": self.exec,
            "write": self.write,
            "stat": lambda header, _: self.employ(header),
            "list": lambda header, _: self.employ(header),
            "bash": self.bash,
        }
        if op not in doers:
            raise Refusal("bad_request", f"There is no operation “{op}”.")
        if "op_id" not in header:
            return doers[op](header, body)
        op_id = want(header, "op_id", str)
        if not 0 < len(op_id) <= 200:
            raise Refusal("bad_request", "“op_id” must have from 1 to 200 characters.")
        return self.operations.once(op_id, lambda: doers[op](header, body))

    def employ(self, job: Header, descriptors: tuple[int, ...] = ()) -> Answer:
        worker = self.workers.borrow()
        answer, parts = consult(worker, job, descriptors)
        if answer.pop("spent", False):
            worker.close()
        else:
            self.workers.give_back(worker)
        return answer, parts

    def exec(self, header: Header, body: Iterator[bytes]) -> Answer:
        first = next(body, b"")
        if not first:
            return self.employ(header)
        stdin = os.memfd_create("stdin")
        try:
            write_all(stdin, first)
            for chunk in body:
                write_all(stdin, chunk)
            os.lseek(stdin, 0, os.SEEK_SET)
            return self.employ(header, (stdin,))
        except OSError as error:
            raise refusal_of(error) from None
        finally:
            os.close(stdin)

    def read(self, channel: Channel, header: Header) -> None:
        offset = want_between(header, "offset", 0, 1 << 62)
        limit = want_between(header, "limit", BODY_LIMIT, BODY_LIMIT)
        worker = self.workers.borrow()
        answer, _ = consult(worker, header)
        if not answer["ok"]:
            self.workers.give_back(worker)
            channel.send(answer)
            return
        with os.fdopen(worker.descriptors.pop(), "rb", buffering=0) as file:
            self.workers.give_back(worker)
            size = answer["size"]
            unsized = b"" if size else read_unsized(file.fileno(), UNSIZED_LIMIT)
            count = max(0, (size or len(unsized)) - offset)
            if count > limit and not want(header, "partial", bool, False):
                raise Refusal("limit", f"The file has {count} bytes, more than {limit}.")
            count = min(count, limit)
            if not size:
                channel.send({"ok": True, "size": len(unsized)}, unsized[offset : offset + count])
                return
            channel.send({"ok": True, "size": size, "sizes": [count]})
            if count and channel.sock.sendfile(file, offset, count) != count:
                raise Hangup

    def write(self, header: Header, body: Iterator[bytes]) -> Answer:
        worker = self.workers.borrow()
        answer, parts = consult(worker, header)
        if answer["ok"]:
            answer, parts = self.fill(worker, body)
        self.workers.give_back(worker)
        return answer, parts

    def fill(self, worker: Channel, body: Iterator[bytes]) -> Answer:
        descriptor, failure = worker.descriptors.pop(), None
        try:
            for chunk in body:
                write_all(descriptor, chunk)
        except Hangup:
            worker.close()
            raise
        except OSError as error:
            failure = refusal_of(error)
        finally:
            os.close(descriptor)
        answer = consult(worker, {"commit": failure is None})
        return (failure.header, []) if failure else answer

    def bash(self, header: Header, _: Iterator[bytes]) -> Answer:
        key = want(header, "user", str, "agent"), want(header, "session", str, "main")
        session = self.claim(key, want_timeout(header, 120.0))
        try:
            if want(header, "restart", bool, False):
                self.end(key, session)
                return {"ok": True, "exit_code": 0, "timed_out": False, "restarted": True, "truncated": False}, [b""]
            session.worker = session.worker or self.workers.borrow()
            answer, parts = consult(session.worker, header)
            if answer.get("error") == "unknown_user":
                self.end(key, session)
            return answer, parts
        except Refusal as refusal:
            if refusal.header["error"] == "lost":
                self.end(key, session)
            raise
        finally:
            session.lock.release()

    def claim(self, key: tuple[str, str], timeout: float) -> Session:
        while True:
            with self.lock:
                if key not in self.sessions and len(self.sessions) >= SESSIONS:
                    raise Refusal("busy", f"The machine has {SESSIONS} shells already; restart one to end it.")
                session = self.sessions.setdefault(key, Session())
            if not session.lock.acquire(timeout=timeout):
                raise Refusal("busy", "Another command still runs in this shell.")
            if self.sessions.get(key) is session:
                return session
            session.lock.release()

    def end(self, key: tuple[str, str], session: Session) -> None:
        with self.lock:
            self.sessions.pop(key, None)
        if session.worker:
            try:
                session.worker.sock.shutdown(socket.SHUT_WR)
                session.worker.sock.recv(1)
            except OSError:
                pass
            session.worker.close()
            session.worker = None

    def rekey(self, channel: Channel, header: Header) -> NoReturn:
        token = want(header, "new_token", str)
        if not 16 <= len(token) <= 200 or not token.isascii():
            raise Refusal("bad_request", "A token has from 16 to 200 plain characters.")
        with self.lock:
            draft = f"{self.token_file}.new"
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                file.write(token)
            os.replace(draft, self.token_file)
            self.token = token.encode()
            for sock in self.friends - {channel.sock}:
                hang_up(sock)
        channel.send({"ok": True})
        raise Hangup


def hang_up(sock: socket.socket) -> None:
    try:
        sock.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def consult(worker: Channel, job: Header, descriptors: tuple[int, ...] = ()) -> Answer:
    try:
        worker.send(job, descriptors=descriptors)
        answer = worker.header()
        return answer, [b"".join(worker.chunks(size)) for size in answer.pop("sizes")]
    except (Hangup, OSError):
        worker.close()
        raise Refusal("lost", "The process that did this died before it could say how it ended.") from None


def read_unsized(descriptor: int, limit: int) -> bytes:
    data = b""
    while len(data) < limit and (chunk := os.read(descriptor, CHUNK)):
        data += chunk
    return data[:limit]


def main() -> NoReturn:
    options = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    address = options.get("--host", "0.0.0.0"), int(options.get("--port", "5902"))
    token_file = options.get("--token-file", "/run/godhand/token")
    os.umask(0o022)
    os.makedirs(os.path.dirname(token_file), mode=0o700, exist_ok=True)
    token = os.environ.pop("GODHAND_TOKEN", "")
    if os.path.exists(token_file):
        with open(token_file) as file:
            token = file.read()
    if not token:
        raise SystemExit("GODHAND_TOKEN is not set.")
    workers = Workers()
    listener = socket.create_server(address, backlog=128)
    threading.Thread(target=workers.warm_up, daemon=True).start()
    Server(token, token_file, workers).serve(listener)


if __name__ == "__main__":
    main()
