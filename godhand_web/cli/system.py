"""What GodHand needs from the operating system, why, and how it gets there. Standard library only."""

import errno
import os
import platform
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn, TextIO

REDIS_PROGRAMS = ("redis-server", "valkey-server", "redis-check-rdb")
LEAST_FREE = 3 * 2**30
VENV_PACKAGE = f"python3.{sys.version_info.minor}-venv"


@dataclass(frozen=True)
class Need:
    package: str
    why: str
    present: Callable[[], bool]
    development: bool = False
    optional: bool = False


def program(*names: str) -> Callable[[], bool]:
    return lambda: any(shutil.which(name) for name in names)


def is_a_snap() -> bool:
    """Ubuntu's Chromium, which sees neither our files nor our networks: tests take the one in the desktop image."""
    try:
        return platform.freedesktop_os_release()["ID"] == "ubuntu"
    except OSError:
        return False


NEEDS = (
    Need(VENV_PACKAGE, "isolates our Python packages", lambda: find_spec("ensurepip") is not None),
    Need("mmdebstrap", "builds machine images", program("mmdebstrap")),
    Need(
        "debian-archive-keyring",
        "checks Debian's signatures",
        Path("/usr/share/keyrings/debian-archive-keyring.gpg").exists,
    ),
    # Without it mmdebstrap does not say to apt which keys are Debian's.
    Need("gpg", "tells which keys are Debian's", program("gpg")),
    # The server program without the package that would start a system-wide service.
    Need("redis-tools", "runs our private Redis", program(*REDIS_PROGRAMS)),
    Need("iproute2", "gives machines their networks", program("ip")),
    Need("nftables", "closes those networks", program("nft")),
    Need("util-linux", "drops privileges", program("setpriv", "unshare")),
    Need("ffmpeg", "makes films of traces", program("ffmpeg"), optional=True),
    Need("chromium", "drives the pages in tests", lambda: program("chromium")() or is_a_snap(), development=True),
)


def say(line: str) -> None:
    announce(f"  · {line}")


def announce(text: str, stream: TextIO | None = None) -> None:
    """Whoever read us may be gone, with the terminal or the pipe; what we do goes on in silence."""
    stream = stream or sys.stdout
    try:
        print(text, file=stream, flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def end_interrupted() -> NoReturn:
    """With the code that shells give to Ctrl-C."""
    print("\nInterrupted before it was done: run the same command again.", file=sys.stderr)
    sys.exit(130)


def reach_administration() -> None:
    """Programs such as nft lie where Debian's ordinary users do not look, nor does root after `su`."""
    known = os.environ.get("PATH", os.defpath).split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join([*known, *(place for place in ("/usr/sbin", "/sbin") if place not in known)])


def missing(for_development: bool) -> list[Need]:
    return [need for need in NEEDS if (for_development or not need.development) and not need.present()]


def port_trouble(address: str, port: int, name: str) -> str:
    """Why nobody can listen there, with the fix, or nothing. `name` is the setting that chose the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                return f"{address} is no address of this host: set GODHAND_BIND to one, or to 0.0.0.0 for all"
            return f"Port {port} on {address} cannot be used ({error.strerror}): set {name} to a free one"
    return ""


def may_install() -> bool:
    return bool(shutil.which("apt-get")) and os.geteuid() == 0


def install(for_development: bool) -> None:
    """Install what is missing, or end with the exact list. What is optional may lack where nothing can be installed."""
    lacking = missing(for_development)
    if not may_install() and not for_development:
        lacking = [need for need in lacking if not need.optional]
    if not lacking:
        return
    names = [need.package for need in lacking]
    if not shutil.which("apt-get"):
        listed = "\n".join(f"  {need.package:24} {need.why}" for need in lacking)
        sys.exit(f"GodHand needs these programs (Debian's package names), and this system has no apt:\n{listed}")
    if os.geteuid() != 0:
        sys.exit(f"GodHand needs packages that only root can install. Run:\n  sudo apt-get install {' '.join(names)}")
    for need in lacking:
        say(f"apt package {need.package}: {need.why}")
    trouble = apt(["update"]) or apt(["install", "--yes", "--no-install-recommends", *names])
    if trouble and any(not need.optional for need in lacking):
        sys.exit(f"{trouble}\nMend that, then run the same command again.")
    if trouble:
        say(f"going on without {' and '.join(names)}: {trouble.splitlines()[-1]}")


def apt(arguments: Iterable[str]) -> str:
    """What went wrong, or nothing."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    result = subprocess.run(
        ["apt-get", "-qq", *arguments],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    tail = "\n".join((result.stdout + result.stderr).splitlines()[-8:])
    return f"apt-get {' '.join(arguments)} failed:\n{tail}" if result.returncode else ""
