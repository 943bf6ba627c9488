"""`./godhand doctor`: one line per need, with the fix. Works before anything is installed, and installs nothing."""

import argparse
import os
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from sandboxes import env
from sandboxes.errors import SandboxError
from sandboxes.host import here
from sandboxes.images import recipe, store
from sandboxes.runsc import Runsc, binary

from . import bootstrap, record, system
from .ahead import DEFAULT_IMAGE
from .mistyped import mistyped
from .processes import is_same
from .system import LEAST_FREE

MODEL_KEYS = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GODHAND_COMPATIBLE_KEY")


@dataclass(frozen=True)
class Finding:
    name: str
    ok: bool
    text: str
    needed: bool = True


def main(arguments: list[str]) -> int:
    """Exit code 1 when something is missing that machines need."""
    argparse.ArgumentParser(prog="./godhand doctor", description="One line per need, with the fix.").parse_args(
        arguments
    )
    findings = list(examine())
    for finding in findings:
        mark = "✓" if finding.ok else ("✗" if finding.needed else "–")
        print(f"  {mark} {finding.name:9} {finding.text}")
    return int(any(finding.needed and not finding.ok for finding in findings))


def examine() -> Iterator[Finding]:
    yield Finding(
        "root",
        os.geteuid() == 0,
        "machines can be made" if os.geteuid() == 0 else "run ./godhand as root to make machines",
    )
    yield packages()
    yield python_packages()
    yield runsc()
    yield redis()
    yield image()
    yield disk(room_to_begin())
    yield from ports()
    yield ffmpeg()
    yield model_key()
    yield from (Finding("setting", False, line, needed=False) for line in mistyped())


def packages() -> Finding:
    lacking = [need.package for need in system.missing(for_development=False) if not need.optional]
    if not lacking:
        return Finding("packages", True, "all system packages are there")
    fix = "./godhand up installs them" if system.may_install() else "install them as root (the names are Debian's)"
    return Finding("packages", False, f"missing {', '.join(lacking)}: {fix}")


def python_packages() -> Finding:
    if bootstrap.is_installed(bootstrap.RUNTIME_LOCK):
        return Finding("python", True, "all Python packages are there")
    state = "not those of this version" if bootstrap.VENV.exists() else "no .venv yet"
    return Finding("python", False, f"{state}: ./godhand up installs them")


def runsc() -> Finding:
    try:
        program = binary(here())
    except SandboxError:
        given = env.text("GODHAND_RUNSC")
        fix = f"no program at GODHAND_RUNSC={given}: unset it" if given else "gVisor is not there yet"
        return Finding("runsc", False, f"{fix}; ./godhand up fetches it")
    try:
        return Finding("runsc", True, f"gVisor {Runsc(here()).version()} is at {program}")
    except SandboxError as error:
        return Finding("runsc", False, str(error))


def redis() -> Finding:
    if given := env.text("GODHAND_REDIS_URL"):
        there = _listens(given)
        state = "answers" if there else "does not answer: start it, or unset the variable"
        return Finding("redis", there, f"the one that GODHAND_REDIS_URL names {state}")
    found = next((path for path in map(shutil.which, system.REDIS_PROGRAMS) if path), None)
    return Finding("redis", found is not None, f"a private one will use {found}" if found else "install redis-tools")


def image() -> Finding:
    try:
        found = store.find(DEFAULT_IMAGE)
        return Finding("image", True, f"desktop {found.digest[:12]}, {found.size / 2**20:.0f} MiB")
    except SandboxError as error:
        return Finding("image", False, str(error))


def room_to_begin() -> int:
    """An image that is still to be built needs more than what serves does."""
    try:
        store.find(DEFAULT_IMAGE)
    except SandboxError:
        return max(LEAST_FREE, recipe.load(DEFAULT_IMAGE).space_mib << 20)
    return LEAST_FREE


def disk(least: int | None = None) -> Finding:
    least = least or LEAST_FREE
    place = next(path for path in (here().home, *here().home.parents) if path.exists())
    if not place.is_dir():
        return Finding("disk", False, f"{place} is a file: set GODHAND_HOME to a directory of your own")
    free = shutil.disk_usage(place).free
    text = f"{free / 2**30:.1f} GiB free at {here().home}"
    fix = f"GodHand needs {least / 2**30:.0f} GiB, so free some, or move GODHAND_HOME"
    return Finding("disk", free >= least, text if free >= least else f"{text}: {fix}")


def _listens(url: str) -> bool:
    try:
        address = urlsplit(url)
        if address.scheme != "unix":
            socket.create_connection((address.hostname or "localhost", address.port or 6379), 2).close()
            return True
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(address.path)
            return True
    except (OSError, ValueError):
        return False


def ports() -> Iterator[Finding]:
    state = record.read()
    running = state is not None and is_same(state["pid"], state["started"])
    web, gate = env.port("GODHAND_PORT", 8800), env.port("GODHAND_GATE_PORT", 8801)
    if web == gate:
        yield Finding("port", False, f"GODHAND_PORT and GODHAND_GATE_PORT are both {web}: set one of them to another")
    for name, port in (("GODHAND_PORT", web), ("GODHAND_GATE_PORT", gate)):
        trouble = system.port_trouble(env.address("GODHAND_BIND", "127.0.0.1"), port, name)
        text = f"{port} is ours" if running and trouble else trouble or f"{port} is free"
        yield Finding("port", running or not trouble, text)


def ffmpeg() -> Finding:
    found = shutil.which("ffmpeg")
    text = f"films of traces will use {found}" if found else "none: apt-get install ffmpeg to make films of traces"
    return Finding("ffmpeg", found is not None, text, needed=False)


def model_key() -> Finding:
    found = [name for name in MODEL_KEYS if os.environ.get(name) or os.environ.get(f"{name}_FILE")]
    wanted = "type one into the settings, or set " + " or ".join(MODEL_KEYS)
    text = f"{', '.join(found)} is set" if found else f"none in the environment: {wanted}; demos need none"
    return Finding("model key", bool(found), text, needed=False)
