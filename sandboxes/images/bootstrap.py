"""Runs mmdebstrap: turns its chatter into phases, and its failures into sentences."""

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..errors import BuildFailed
from .recipe import Recipe

# Everything runs in namespaces of its own and dies with the builder, so that no mount, daemon or half-done
# download outlives a killed build.
CONTAINED = [
    "setpriv",
    "--pdeathsig",
    "KILL",
    "unshare",
    "--mount",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
]

_DOCUMENTATION = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/info/*", "/usr/share/lintian/*")
_CONFIGURING = (re.compile(r"Setting up \S+"), "configuring packages")
_PHASES = (
    (re.compile(r"I: running apt-get update"), "resolving packages"),
    (re.compile(r"I: extracting archives"), "unpacking the base system"),
    (re.compile(r"I: installing essential packages"), "configuring the base system"),
    (re.compile(r"I: installing remaining packages"), ""),
    (re.compile(r"(\d+) newly installed"), "downloading {} packages"),
    (re.compile(r"Unpacking \S+"), "unpacking packages"),
    _CONFIGURING,
)
NETWORK = re.compile(
    r"(Temporary failure resolving|Could not resolve|Could not connect|Unable to connect|Connection timed out|"
    r"Connection refused|Connection failed|Failed to fetch|Network is unreachable|NameResolutionError|"
    r"Could not find a version)[^\n]*"
)
_UNKNOWN_PACKAGE = re.compile(r"Unable to locate package (\S+)")
FULL = re.compile(r"No space left on device|You don't have enough free space")

Say = Callable[[str], None]


def bootstrap(recipe: Recipe, root: Path, log: Path, say: Say) -> None:
    """Raises BuildFailed."""
    phases = _Phases(say)
    # A killed mmdebstrap leaves its temporary files, so they lie where a broken-off build is swept away.
    scratch = root.parent / "tmp"
    scratch.mkdir()
    code = run([*CONTAINED, *command(recipe, root)], log, phases.read, {**os.environ, "TMPDIR": str(scratch)})
    if code:
        raise failure(recipe, log, "mmdebstrap")
    shutil.rmtree(scratch)


def command(recipe: Recipe, root: Path) -> list[str]:
    """Without a mirror: mmdebstrap's own default for the suite is the right one."""
    leave_out = [f"--dpkgopt=path-exclude={path}" for path in (*_DOCUMENTATION, *recipe.leave_out)]
    return [
        "mmdebstrap",
        "--verbose",
        "--mode=root",
        "--format=directory",
        f"--variant={recipe.variant}",
        f"--include={','.join(recipe.packages)}",
        *leave_out,
        "--dpkgopt=path-include=/usr/share/doc/*/copyright",
        recipe.suite,
        str(root),
    ]


def run(argv: Sequence[str], log: Path, read: Say, env: Mapping[str, str] | None = None) -> int:
    """Run to the end, every line to the log and to `read`; on any exception the program is killed first."""
    with (
        log.open("a") as file,
        subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=env,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdout is not None
        try:
            for line in process.stdout:
                file.write(line)
                read(line)
            return process.wait()
        except BaseException:
            process.kill()
            raise


def failure(recipe: Recipe, log: Path, what: str) -> BuildFailed:
    told = log.read_text(errors="replace")
    unknown = _UNKNOWN_PACKAGE.search(told)
    if unknown:
        return BuildFailed(f"The recipe “{recipe.name}” wants a package that does not exist: {unknown[1]}.")
    if FULL.search(told):
        return disk_ran_full(recipe.name)
    network = NETWORK.search(told)
    if network:
        return BuildFailed(
            f"The packages of “{recipe.name}” could not be downloaded ({network[0].strip()}); "
            f"check the network and build again."
        )
    last = next((line for line in reversed(told.splitlines()) if line.strip()), "it said nothing")
    return BuildFailed(f"Building “{recipe.name}” failed in {what}: {last.strip()} The whole story is in {log}.")


def disk_ran_full(name: str) -> BuildFailed:
    return BuildFailed(f"The disk ran full while building “{name}”; free some space and build again.")


class _Phases:
    """Says each phase once, in order. The base system goes through all of them before the other packages do."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._left = list(_PHASES)
        self._to_unpack = 0

    def read(self, line: str) -> None:
        if line.startswith("Unpacking "):
            self._to_unpack -= 1
        if not self._left or (self._left[0] is _CONFIGURING and self._to_unpack > 0):
            return
        pattern, title = self._left[0]
        match = pattern.search(line)
        if match:
            self._left.pop(0)
            self._to_unpack = int(match[1]) if match.groups() else self._to_unpack
            if title:
                self._say(title.format(*match.groups()))
