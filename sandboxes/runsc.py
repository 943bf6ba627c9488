"""gVisor's `runsc` as a program: found, started apart from the caller, asked, killed."""

import json
import os
import re
import select
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

from . import env
from .errors import DiskFull, Ended, Gone, TimedOut, Unavailable
from .host import Host
from .lifeline import Lifeline
from .network import namespace_path

KERNEL = (b"runsc-sandbox",)
PROCESSES = (*KERNEL, b"runsc-gofer")
START_TIMEOUT = ASK_TIMEOUT = 60
NO_SPACE = "no space left on device"
CHECKPOINT_FLAGS = ("-leave-running", "-compression=none", "-exclude-committed-zero-pages")
FLAGS = ("--platform=systrap", "--net-disconnect-ok", "--overlay2=root:memory", "--network=sandbox")

# Kernels from 6.x on show net.core in every network namespace, which runsc 20240729 takes for the root one and
# refuses. A private mount namespace covers that directory as it is seen from the target. Slave propagation lets
# the unmounting of other machines' namespaces through: a private copy would keep them alive.
COVERED_START = """
namespace=$1; shift
nsenter --net="$namespace" mount -t tmpfs none /proc/sys/net/core
exec "$@"
"""


def binary(host: Host) -> str:
    """Raises Unavailable with the fix."""
    given = env.text("GODHAND_RUNSC")
    candidates = [given] if given else [shutil.which("runsc"), str(host.tools / "runsc/usr/bin/runsc")]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise Unavailable(f"runsc is not installed{f' at {given}' if given else ''}: run ./godhand doctor for the fix.")


class Runsc:
    """One installation's containers; `root` is where runsc keeps their state."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.root = host.machines / ".runsc"

    def run(self, container: str, bundle: Path, namespace: str) -> int:
        """Start and return the kernel's process, which is no child of ours. Raises Gone with runsc's last words."""
        return self._start(container, bundle, namespace, "run")

    def restore(self, container: str, bundle: Path, namespace: str, checkpoint: Path) -> int:
        """As `run`, from a checkpoint: the bundle differs from the saved machine's only in its network namespace."""
        return self._start(container, bundle, namespace, "restore", "-image-path", str(checkpoint))

    def checkpoint(self, container: str, directory: Path) -> None:
        """Memory and disk together; the machine runs on. Connections into it are reset. Raises Gone, DiskFull."""
        result = self._ask("checkpoint", *CHECKPOINT_FLAGS, "-image-path", str(directory), container)
        if NO_SPACE in result.stderr.lower():
            raise DiskFull
        if result.returncode:
            raise Gone(f"The machine could not be saved: {result.stderr.strip()[:300] or 'it is not there'}")

    def version(self) -> str:
        """Raises Unavailable."""
        program = binary(self.host)
        return _version(program, Path(program).stat().st_mtime_ns)

    def _start(self, container: str, bundle: Path, namespace: str, verb: str, *flags: str) -> int:
        log, pid = bundle / "runsc.log", bundle / "pid"
        place = ("-detach", "-pid-file", str(pid), "-bundle", str(bundle))
        argv = self._argv("--log", str(log), verb, *place, *flags, container)
        covered = ["unshare", "--mount", "--propagation", "slave", "sh", "-c", COVERED_START, "sh"]
        with (bundle / "console.log").open("wb") as console:
            code = _run_to_end([*covered, str(namespace_path(namespace)), *argv], console)
        if code:
            raise Gone(f"runsc could not start the machine: {_last_words(console.name, log)}")
        return int(pid.read_text())

    def exec_argv(self, container: str, *argv: str, flags: Sequence[str] = ()) -> list[str]:
        return self._argv("exec", *flags, container, *argv)

    def state(self, container: str) -> dict[str, Any] | None:
        result = self._ask("state", container)
        if result.returncode:
            return None
        found: dict[str, Any] = json.loads(result.stdout)
        return found

    def containers(self) -> list[str]:
        """Also those whose state is too broken for runsc to list."""
        if not self.root.is_dir():
            return []
        return sorted({path.name.partition("_sandbox:")[0] for path in self.root.glob("*_sandbox:*")})

    def remove(self, container: str) -> None:
        """Kill and forget, whatever state it is in.

        Killing first is ten times quicker than `runsc delete -force`, which asks politely and looks seldom.
        """
        for pid in self.processes(container):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.root.is_dir() and any(self.root.glob(f"*{container}*")):
            self._ask("delete", "-force", container)
            for leftover in self.root.glob(f"*{container}*"):
                leftover.unlink(missing_ok=True)

    def processes(self, container: str, roles: Sequence[bytes] = PROCESSES) -> Iterator[int]:
        """Found by the arguments they were started with; the gofer's name the container only in a path."""
        for directory in Path("/proc").iterdir():
            if directory.name.isdigit() and self._is_of(container, int(directory.name), roles):
                yield int(directory.name)

    def alive(self, container: str) -> bool:
        return any(self.processes(container, KERNEL))

    def lifeline(self, container: str, pid: int) -> Lifeline:
        """Raises Ended when that process is not the container's kernel any more."""
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            raise Ended("The machine has ended.") from None
        lifeline = Lifeline(descriptor)
        if not self.is_kernel(pid, container):
            lifeline.close()
            raise Ended("The machine has ended.")
        return lifeline

    def is_kernel(self, pid: int, container: str) -> bool:
        return self._is_of(container, pid, KERNEL)

    def _is_of(self, container: str, pid: int, roles: Sequence[bytes]) -> bool:
        root, name = os.fsencode(self.root), container.rpartition("-")[2].encode()
        try:
            argv = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            return False
        return argv[0] in roles and any(root in word for word in argv) and any(name in word for word in argv)

    def _argv(self, *arguments: str) -> list[str]:
        return [binary(self.host), "--root", str(self.root), *FLAGS, *arguments]

    def _ask(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Raises TimedOut."""
        try:
            return subprocess.run(
                self._argv(*arguments),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=ASK_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TimedOut(
                f"runsc {arguments[0]} took longer than {ASK_TIMEOUT} s: the host is too busy or its disk too slow now."
            ) from None


def _run_to_end(argv: Sequence[str], output: IO[bytes]) -> int:
    """As `subprocess.run`, which with a timeout looks for the end only every 50 ms."""
    streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
    with subprocess.Popen(argv, start_new_session=True, **streams) as process:
        descriptor = os.pidfd_open(process.pid)
        try:
            ended, _, _ = select.select([descriptor], [], [], START_TIMEOUT)
        finally:
            os.close(descriptor)
        if not ended:
            process.kill()
    return process.returncode


@cache
def _version(program: str, _changed: int) -> str:
    try:
        asked = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=ASK_TIMEOUT, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{program} cannot be run: {error}.") from error
    found = re.match(r"runsc version (\S+)", asked.stdout)
    if found is None:
        raise Unavailable(f"{program} is not gVisor's runsc, or does not work here: correct or unset GODHAND_RUNSC.")
    return found[1]


def _last_words(*logs: str | Path) -> str:
    lines = [line for log in logs if Path(log).exists() for line in Path(log).read_text(errors="replace").splitlines()]
    return lines[-1][:300] if lines else "it said nothing"
