#!/usr/bin/python3 -IS
"""Process 1 of a machine: gives it an identity, starts the guest and the desktop, and keeps them running.

Standard library only, and little of it: what is imported here delays the first picture.
"""

# ruff: noqa: PTH101, PTH103, PTH104, PTH110, PTH112, PTH120, PTH123, SIM105

import ctypes
import json
import os
import pwd
import select
import signal
import sys
import time
from typing import Any, NoReturn

HOME, LOGS, TOKEN_FILE, USER = "/opt/godhand", "/var/log/godhand", "/run/godhand/token", "agent"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LOG_LIMIT, READY_SECONDS, STOP_SECONDS = 1 << 20, 15.0, 3.0
FIRST_DELAY, LONGEST_DELAY, STEADY_SECONDS = 0.2, 30.0, 10.0
PR_CAPBSET_READ, PR_CAPBSET_DROP, CAP_SYS_ADMIN = 23, 24, 21


def write(path: str, text: str) -> None:
    try:
        with open(path, "w") as file:
            file.write(text)
    except OSError as error:
        print(f"init: {path}: {error.strerror}", file=sys.stderr, flush=True)


def give_identity() -> None:
    name, machine_id = os.uname().nodename, os.urandom(16).hex() + "\n"
    write("/etc/machine-id", machine_id)
    if os.path.isdir("/var/lib/dbus"):
        write("/var/lib/dbus/machine-id", machine_id)
    write("/etc/hostname", f"{name}\n")
    hosts = "127.0.0.1\tlocalhost\n"
    if os.path.exists("/etc/hosts"):
        with open("/etc/hosts") as file:
            hosts = file.read()
    if name not in hosts.split():
        write("/etc/hosts", f"{hosts.rstrip()}\n127.0.1.1\t{name}\n")


def make_places() -> None:
    for path in ("/tmp/.X11-unix", "/tmp/.ICE-unix"):
        os.makedirs(path, exist_ok=True)
        os.chmod(path, 0o1777)
    os.makedirs(LOGS, mode=0o755, exist_ok=True)
    person = pwd.getpwnam(USER)
    runtime = f"/run/user/{person.pw_uid}"
    os.makedirs(runtime, mode=0o700, exist_ok=True)
    os.chown(runtime, person.pw_uid, person.pw_gid)


def remount_proc() -> None:
    """gVisor keeps the last thousand names that anybody looked up in /proc, with all that belongs to their processes,
    and so does every snapshot. A mount of our own keeps one. The right to mount ends here, before anything else runs.
    """
    libc, header, rights = ctypes.CDLL(None), (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    libc.mount(b"proc", b"/proc", b"proc", 0, b"dentry_cache_limit=1")
    libc.prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN, 0, 0, 0)
    libc.capget(header, rights)
    for kind in range(3):
        rights[kind] &= ~(1 << CAP_SYS_ADMIN)
    if libc.capset(header, rights) or libc.prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0):
        sys.exit("init cannot give up its right to mount.")


def keep_token() -> None:
    """Where only root reads it, and not in the environment, which gVisor shows to everybody in /proc."""
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_void_p
    place, token = getenv(b"GODHAND_TOKEN"), os.environ.pop("GODHAND_TOKEN", "")
    ctypes.memset(place, 0, len(token))
    os.makedirs(os.path.dirname(TOKEN_FILE), mode=0o700, exist_ok=True)
    write(TOKEN_FILE, token)


class Service:
    def __init__(self, entry: dict[str, Any]) -> None:
        self.name, self.argv = str(entry["name"]).replace("/", "_"), [str(word) for word in entry["argv"]]
        self.user, self.cwd, self.env = entry.get("user") or "root", entry.get("cwd"), entry.get("env") or {}
        self.ready, self.restart = entry.get("ready"), bool(entry.get("restart"))
        self.pid, self.delay, self.started, self.due = 0, FIRST_DELAY, 0.0, 0.0
        self.log = os.open(f"{LOGS}/{self.name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def start(self) -> int:
        """The end of the pipe on which the program's output comes."""
        outlet, inlet = os.pipe()
        self.started, self.due = time.monotonic(), 0.0
        try:
            person = pwd.getpwnam(self.user)
            become(person)
            os.chdir(self.cwd or person.pw_dir)
            self.pid = spawn(self.argv, environment(person) | self.env, inlet)
        except (OSError, KeyError, ValueError, TypeError) as error:
            os.write(inlet, f"init: {self.name} cannot start: {error}\n".encode())
            self.ended()
        finally:
            os.setresuid(0, 0, 0)
            os.setresgid(0, 0, 0)
            os.setgroups([])
            os.chdir("/")
            os.close(inlet)
        return outlet

    def ended(self) -> None:
        self.pid, lived = 0, time.monotonic() - self.started
        self.delay = FIRST_DELAY if lived > STEADY_SECONDS else min(self.delay * 2, LONGEST_DELAY)
        self.due = time.monotonic() + self.delay if self.restart else 0.0

    def is_ready(self) -> bool:
        if not self.ready or not (self.pid or self.due) or time.monotonic() > self.started + READY_SECONDS:
            return True
        return os.path.exists(self.ready["path"]) if "path" in self.ready else listens(int(self.ready["port"]))

    def record(self, output: bytes) -> None:
        """A full disk costs log lines, never the machine."""
        try:
            os.write(self.log, output)
            if os.fstat(self.log).st_size > LOG_LIMIT:
                path = f"{LOGS}/{self.name}.log"
                os.rename(path, f"{path}.1")
                fresh = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
                os.dup2(fresh, self.log, inheritable=False)
                os.close(fresh)
        except OSError:
            pass


def environment(person: pwd.struct_passwd) -> dict[str, str]:
    env = {"PATH": PATH, "HOME": person.pw_dir, "USER": person.pw_name, "LOGNAME": person.pw_name, "LANG": "C.UTF-8"}
    return env | {"SHELL": person.pw_shell, "XDG_RUNTIME_DIR": f"/run/user/{person.pw_uid}"}


def become(person: pwd.struct_passwd) -> None:
    """The saved id stays root's, so that init can come back; executing a program drops it."""
    os.setgroups(os.getgrouplist(person.pw_name, person.pw_gid))
    os.setresgid(person.pw_gid, person.pw_gid, 0)
    os.setresuid(person.pw_uid, person.pw_uid, 0)


def spawn(argv: list[str], env: dict[str, str], output: int) -> int:
    silence = (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0)
    actions = [silence, (os.POSIX_SPAWN_DUP2, output, 1), (os.POSIX_SPAWN_DUP2, output, 2)]
    fresh = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
    return os.posix_spawnp(argv[0], argv, env, file_actions=actions, setsid=True, setsigmask=[], setsigdef=fresh)


def listens(port: int) -> bool:
    """Asked of the kernel, because a server may take a connection that says nothing for a fault."""
    wanted, listening = f":{port:04X}", "0A"
    for table in filter(os.path.exists, ("/proc/net/tcp", "/proc/net/tcp6")):
        with open(table) as file:
            if any(words[1].endswith(wanted) and words[3] == listening for words in map(str.split, file)):
                return True
    return False


class Init:
    def __init__(self) -> None:
        self.stopping, self.poller = False, select.poll()
        self.waiting, self.services = list[Service](), list[Service]()
        self.outlets: dict[int, Service] = {}
        self.wake, wakes = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self.poller.register(self.wake, select.POLLIN)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)
        signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)

    def stop(self, *_: object) -> None:
        self.stopping = True

    def start(self, service: Service) -> None:
        self.outlets[outlet := service.start()] = service
        self.poller.register(outlet, select.POLLIN)

    def listen(self, timeout: float | None) -> None:
        for descriptor, _ in self.poller.poll(None if timeout is None else timeout * 1000):
            if descriptor == self.wake:
                os.read(self.wake, 4096)
            elif output := os.read(descriptor, 64 << 10):
                self.outlets[descriptor].record(output)
            else:
                self.poller.unregister(descriptor)
                del self.outlets[descriptor]
                os.close(descriptor)

    def reap(self) -> bool:
        """Whether any process is left."""
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            for service in self.services:
                if service.pid == pid:
                    service.ended()

    def advance(self) -> None:
        while self.waiting and (not self.services or self.services[-1].is_ready()):
            self.services.append(self.waiting.pop(0))
            self.start(self.services[-1])

    def patience(self) -> float | None:
        if self.waiting:
            return 0.01
        due = [service.due for service in self.services if service.due]
        return max(0.0, min(due) - time.monotonic()) + 0.001 if due else None

    def run(self, guest: Service, entries: list[dict[str, Any]]) -> NoReturn:
        self.waiting = [Service(entry) for entry in entries]
        self.advance()
        self.start(guest)
        self.services.insert(0, guest)
        while not self.stopping:
            self.advance()
            self.listen(self.patience())
            self.reap()
            for service in self.services:
                if service.due and service.due <= time.monotonic():
                    self.start(service)
        self.end()

    def end(self) -> NoReturn:
        deadline = time.monotonic() + STOP_SECONDS
        kill_all(signal.SIGTERM)
        while self.reap() and time.monotonic() < deadline:
            self.listen(0.05)
        kill_all(signal.SIGKILL)
        os._exit(0)


def kill_all(number: int) -> None:
    try:
        os.kill(-1, number)
    except ProcessLookupError:
        pass


def main() -> NoReturn:
    if os.getpid() != 1:
        sys.exit("init is only for process 1 of a machine: when stopped it ends every process it can see.")
    os.umask(0o022)
    remount_proc()
    keep_token()
    os.environ["PATH"] = PATH
    give_identity()
    make_places()
    with open(f"{HOME}/start.json") as file:
        entries = json.load(file)
    argv = [sys.executable, "-IS", f"{HOME}/guest/__main__.py", "--port", "5902", "--host", "0.0.0.0"]
    guest = Service({"name": "guest", "argv": argv, "cwd": "/", "restart": True})
    Init().run(guest, entries)


if __name__ == "__main__":
    main()
