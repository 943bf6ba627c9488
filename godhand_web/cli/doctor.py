"""`./godhand doctor`: one line per need, with the fix. Works before anything is installed, and installs nothing."""

import argparse
import os
import shutil
import socket
from collections.abc import Iterator
from dataclasses import dataclass

from sandboxes import env
from sandboxes.errors import SandboxError
from sandboxes.host import here
from sandboxes.images import store
from sandboxes.runsc import binary

from . import record, system
from .place import ROOT

LEAST_FREE = 3 * 2**30
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
    yield disk()
    yield from ports()
    yield ffmpeg()
    yield model_key()


def packages() -> Finding:
    lacking = [need.package for need in system.missing(for_development=False) if not need.optional]
    text = f"missing {', '.join(lacking)}: ./godhand up installs them" if lacking else "all system packages are there"
    return Finding("packages", not lacking, text)


def python_packages() -> Finding:
    there = any((ROOT / ".venv").glob("installed-*"))
    return Finding("python", there, "all Python packages are there" if there else "no .venv yet: ./godhand up makes it")


def runsc() -> Finding:
    try:
        return Finding("runsc", True, f"gVisor is at {binary(here())}")
    except SandboxError:
        given = env.text("GODHAND_RUNSC")
        fix = f"no program at GODHAND_RUNSC={given}: unset it" if given else "gVisor is not there yet"
        return Finding("runsc", False, f"{fix}; ./godhand up fetches it")


def redis() -> Finding:
    found = next((path for path in map(shutil.which, system.REDIS_PROGRAMS) if path), None)
    return Finding("redis", found is not None, f"a private one will use {found}" if found else "install redis-tools")


def image() -> Finding:
    try:
        found = store.find("desktop")
        return Finding("image", True, f"desktop {found.digest[:12]}, {found.size / 2**20:.0f} MiB")
    except SandboxError as error:
        return Finding("image", False, str(error))


def disk() -> Finding:
    place = next(path for path in (here().home, *here().home.parents) if path.exists())
    free = shutil.disk_usage(place).free
    text = f"{free / 2**30:.0f} GiB free at {here().home}"
    return Finding(
        "disk", free >= LEAST_FREE, text if free >= LEAST_FREE else f"{text}: free some, or move GODHAND_HOME"
    )


def ports() -> Iterator[Finding]:
    running = record.read() is not None
    for name, default in (("GODHAND_PORT", 8800), ("GODHAND_GATE_PORT", 8801)):
        port = env.port(name, default)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            taken = _in_use(probe, port)
        text = f"{port} is {'ours' if running and taken else f'taken: set {name}' if taken else 'free'}"
        yield Finding("port", running or not taken, text)


def _in_use(probe: socket.socket, port: int) -> bool:
    try:
        probe.bind((env.text("GODHAND_BIND", "127.0.0.1"), port))
    except OSError:
        return True
    return False


def ffmpeg() -> Finding:
    found = shutil.which("ffmpeg")
    text = f"films of traces will use {found}" if found else "none: apt-get install ffmpeg to make films of traces"
    return Finding("ffmpeg", found is not None, text, needed=False)


def model_key() -> Finding:
    found = [name for name in MODEL_KEYS if os.environ.get(name) or os.environ.get(f"{name}_FILE")]
    wanted = "type one into the settings, or set " + " or ".join(MODEL_KEYS)
    text = f"{', '.join(found)} is set" if found else f"none in the environment: {wanted}; demos need none"
    return Finding("model key", bool(found), text, needed=False)
