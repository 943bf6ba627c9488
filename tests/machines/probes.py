"""Ways out of a machine, tried by its root: `python3 - <canary> <canary socket> <word> ...`, inside.

Prints one JSON object: each probe with the error that stopped it, with "harmless", or with "reached" and what it got.
Arguments are what only the host has: a file, an abstract socket, and words that must be nowhere to be read. They come
backwards, for what this program was started with can be read.
"""

import ctypes
import fcntl
import json
import os
import platform
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

CANARY, SOCKET, *WORDS = (word[::-1] for word in sys.argv[1:])
LIBC = ctypes.CDLL(None, use_errno=True)
X86 = platform.machine() == "x86_64"
NEW_USER, NEW_MOUNTS = 0x10000000, 0x00020000
AGENT = 1000
FOLDER = tempfile.mkdtemp()
CALLS = {
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "kexec_load": (246, 104),
    "add_key": (248, 217),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "pivot_root": (155, 41),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "swapon": (167, 224),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "lookup_dcookie": (212, 18),
    "fanotify_init": (300, 262),
}
FORBIDDEN_FILES = (
    "/dev/mem", "/dev/kmem", "/dev/port", "/dev/kvm", "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/loop-control",
    "/proc/kcore", "/proc/kmsg", "/proc/kallsyms", "/proc/timer_list", "/sys/kernel/debug", "/sys/firmware/efi",
)  # fmt: skip
FORBIDDEN_WRITES = (
    "/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/sysrq",
    "/proc/sys/vm/drop_caches", "/sys/kernel/uevent_helper", "/sys/power/state", "/sys/fs/cgroup/release_agent",
    "/sys/fs/cgroup/memory/release_agent",
)  # fmt: skip

Probe = Callable[[], object]
"""Raises OSError when it is stopped; returns what it got."""


def done(result: int) -> int:
    """Of a call that must not succeed."""
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result + 1


def call(name: str) -> object:
    number = CALLS[name][0 if X86 else 1]
    room = ctypes.create_string_buffer(256)
    return done(LIBC.syscall(ctypes.c_long(number), room, ctypes.c_long(0), room, ctypes.c_long(0), ctypes.c_long(0)))


def device(kind: int, major: int, minor: int) -> object:
    path = f"/dev/probe-{kind}-{major}-{minor}"
    os.mknod(path, kind | 0o600, os.makedev(major, minor))
    try:
        with Path(path).open("rb") as file:
            return file.read(16)
    finally:
        Path(path).unlink()


def read(path: str) -> object:
    if Path(path).is_dir():
        return list(Path(path).iterdir())
    with Path(path).open("rb") as file:
        return [byte for byte in file.read(4096) if byte not in b"\0 0\n"][:16]


def write(path: str) -> object:
    with Path(path).open("r+b", buffering=0) as file:
        before = file.read(4096)
        return file.write(before or b"h")


def apart(probe: Probe) -> str:
    """In a process of its own, which may give up what this one needs."""
    reader, writer = os.pipe()
    if not os.fork():
        os.write(writer, outcome(probe).encode())
        os._exit(0)
    os.close(writer)
    os.wait()
    with os.fdopen(reader) as said:
        return said.read()


def canary_below(root: str) -> object:
    return os.path.lexists(root + CANARY) and root


def chroot_break() -> object:
    above = os.open("/", os.O_RDONLY)
    os.chroot(FOLDER)
    os.fchdir(above)
    for _ in range(64):
        os.chdir("..")
    os.chroot(".")
    return canary_below("")


def every_process() -> Iterator[str]:
    return (str(path) for path in Path("/proc").iterdir() if path.name.isdigit() or path.name == "self")


def roots_of_processes() -> object:
    up = "/.." * 32
    ways = [f"{each}/{link}{more}" for each in every_process() for link in ("root", "cwd") for more in ("", up)]
    return [way for way in ways if canary_below(way)]


def open_files_of_processes() -> object:
    found = []
    for folder in every_process():
        try:
            found += [f"{path}{'/..' * 32}" for path in Path(folder, "fd").iterdir()]
        except OSError:
            continue
    return [way for way in found if canary_below(way)]


def words_to_be_read() -> object:
    """In what is told of processes, mounts and the kernel's command line."""
    names = ("environ", "cmdline", "mountinfo", "maps", "cgroup", "status")
    paths = [f"{each}/{name}" for each in every_process() for name in names] + ["/proc/cmdline", "/proc/mounts"]
    found = []
    for path in paths:
        try:
            text = Path(path).read_bytes()
        except OSError:
            continue
        found += [path for word in WORDS if word.encode() in text]
    return found


def open_by_handle() -> object:
    """The root of a file system by its number, as in the “shocker”."""
    mount = os.open("/", os.O_RDONLY)
    handle = struct.pack("IiII", 8, 1, 2, 0)
    descriptor = LIBC.open_by_handle_at(mount, handle, os.O_RDONLY)
    return done(descriptor)


def own_program() -> object:
    """Written over with what it is; a copy that is the machine's own may change. Whose is it else?"""
    with Path("/proc/self/exe").open("r+b") as program:
        program.write(b"\x7fELF")
    return not Path("/proc/self/exe").readlink().exists()


def tiocsti(path: str) -> object:
    descriptor = os.open(path, os.O_RDWR | os.O_NOCTTY)
    fcntl.ioctl(descriptor, 0x5412, b"\n")
    return "typed"


def trace_root() -> object:
    os.setgroups([])
    os.setgid(AGENT)
    os.setuid(AGENT)
    return done(LIBC.ptrace(16, 1, None, None))


def memory_of_root() -> object:
    os.setgid(AGENT)
    os.setuid(AGENT)
    return read("/proc/1/mem")


def own_namespaces() -> object:
    """Whatever is mounted there, it is the machine's own."""
    done(LIBC.unshare(NEW_USER | NEW_MOUNTS))
    for kind in (b"proc", b"sysfs", b"cgroup", b"devtmpfs", b"tmpfs", b"overlay"):
        LIBC.mount(b"none", FOLDER.encode(), kind, 0, None)
    for source in ("/dev/sda", "/dev/vda", "/proc/1/root"):
        LIBC.mount(source.encode(), FOLDER.encode(), b"ext4", 0x1000, None)
    return words_to_be_read() or roots_of_processes() or canary_below(FOLDER)


def mount(kind: str) -> object:
    return done(LIBC.mount(b"none", b"/mnt", kind.encode(), 0, None))


def talk_to_the_host() -> object:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(f"\0{SOCKET}")
    return "connected"


def talk(family: int, kind: int) -> object:
    with socket.socket(family, kind):
        return "open"


def clock() -> object:
    time.clock_settime(time.CLOCK_REALTIME, 1.0)
    return "set"


PROBES: dict[str, Probe] = {
    **{name: partial(call, name) for name in CALLS},
    **{f"read {path}": partial(read, path) for path in FORBIDDEN_FILES},
    **{f"write {path}": partial(write, path) for path in FORBIDDEN_WRITES},
    **{f"mount {kind}": partial(mount, kind) for kind in ("tmpfs", "proc", "cgroup", "ext4")},
    "a disk of its own making": lambda: device(0o060000, 8, 0),
    "a virtual disk of its own making": lambda: device(0o060000, 254, 0),
    "/dev/mem of its own making": lambda: device(0o020000, 1, 1),
    "/dev/kmsg of its own making": lambda: device(0o020000, 1, 11),
    "the host's canary": lambda: canary_below(""),
    "the chroot break": chroot_break,
    "roots of processes": roots_of_processes,
    "open files of processes": open_files_of_processes,
    "words of the host": words_to_be_read,
    "open_by_handle_at": open_by_handle,
    "/proc/self/exe": own_program,
    "TIOCSTI on its console": lambda: tiocsti("/dev/console"),
    "TIOCSTI on its terminal": lambda: tiocsti("/dev/tty"),
    "ptrace of root by another": trace_root,
    "memory of root by another": memory_of_root,
    "namespaces of its own": own_namespaces,
    "the host's abstract socket": talk_to_the_host,
    "raw packets": lambda: talk(socket.AF_PACKET, socket.SOCK_RAW),
    "a socket to the hypervisor": lambda: talk(40, socket.SOCK_STREAM),
    "the kernel's cryptography": lambda: talk(38, socket.SOCK_SEQPACKET),
    "the clock": clock,
    "its name": lambda: done(LIBC.sethostname(b"escaped", 7)),
    "reboot": lambda: done(LIBC.reboot(0)),
    "iopl": lambda: done(LIBC.iopl(3)) if X86 else 0,
}

APART = (chroot_break, trace_root, memory_of_root, own_namespaces)


def outcome(probe: Probe) -> str:
    try:
        got = probe()
    except OSError as error:
        return error.strerror or str(error)
    return f"reached: {got}"[:300] if got else "harmless"


if __name__ == "__main__":
    json.dump({name: (apart if probe in APART else outcome)(probe) for name, probe in PROBES.items()}, sys.stdout)
    Path(FOLDER).rmdir()
