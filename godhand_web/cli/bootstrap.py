"""Runs on any Python ≥ 3.11 with nothing installed: makes `.venv`, then hands over to the real command line.

Standard library only. Says what it does while it does it; says nothing when there is nothing to do.
"""

import fcntl
import hashlib
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from godhand_web.cli import system  # noqa: E402

VENV = ROOT / ".venv"
VENV_LOCK = ROOT / ".venv.lock"
PYTHON = VENV / "bin" / "python"
RUNTIME_LOCK = ROOT / "requirements.lock"
DEV_LOCK = ROOT / "requirements-dev.lock"
DEV_COMMANDS = {"test", "bench"}
ROOT_COMMANDS = {"demo", "test", "bench", "image", "shell"}
READ_ONLY_COMMANDS = {"doctor", "status", "down", "logs"}


def main(arguments: list[str]) -> None:
    command = next((word for word in arguments if not word.startswith("-")), "")
    helps = not command or {"-h", "--help"} & set(arguments)
    if command in ROOT_COMMANDS and os.geteuid() != 0 and not helps:
        sys.exit(f"“{command}” works with real machines, which need root: run ./godhand {command} as root.")
    if command not in READ_ONLY_COMMANDS and not helps:
        system.install(for_development=command in DEV_COMMANDS)
        ensure_venv(DEV_LOCK if command in DEV_COMMANDS else RUNTIME_LOCK)
    elif command in READ_ONLY_COMMANDS - {"doctor"} and not stamp_of(RUNTIME_LOCK).exists():
        sys.exit("GodHand is not installed here yet: ./godhand up installs and starts it.")
    if helps and not stamp_of(RUNTIME_LOCK).exists():
        # A command's own help needs what is not installed yet.
        arguments = []
    python = str(PYTHON) if PYTHON.exists() else sys.executable
    os.environ["PYTHONPATH"] = str(ROOT)
    os.execv(python, [python, "-m", "godhand_web.cli", *arguments])


def ensure_venv(lock: Path) -> None:
    if is_installed(lock):
        return
    if not os.access(ROOT, os.W_OK):
        sys.exit(f"GodHand installs its Python packages into {VENV}, which you may not write: clone it as yourself.")
    with alone():
        if not is_installed(lock):
            install(lock)


def is_installed(lock: Path) -> bool:
    stamp = stamp_of(lock)
    return PYTHON.exists() and stamp.exists() and stamp.read_text() == fingerprint(lock)


def stamp_of(lock: Path) -> Path:
    return VENV / f"installed-{lock.stem}"


@contextmanager
def alone() -> Iterator[None]:
    """The lock lies beside `.venv`, which is cleared before it is made."""
    with VENV_LOCK.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            system.say("another command is installing the Python packages; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def install(lock: Path) -> None:
    started = time.monotonic()
    if not PYTHON.exists() or not (VENV / "bin" / "pip").exists():
        system.say("Making .venv")
        run([sys.executable, "-m", "venv", "--clear", str(VENV)], "make a virtual environment")
    system.say(f"Installing Python packages from {lock.name}")
    run(
        [
            str(PYTHON),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
            "-r",
            str(lock),
        ],
        "install the Python packages",
    )
    for each in {lock, RUNTIME_LOCK}:
        stamp_of(each).write_text(fingerprint(each))
    system.say(f"Python packages are in place ({time.monotonic() - started:.0f} s)")


def fingerprint(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes() + platform.python_version().encode()).hexdigest()


def run(argv: list[str], what: str) -> None:
    if subprocess.run(argv, check=False).returncode:
        sys.exit(f"GodHand could not {what}. The lines above say why; run the same command again afterwards.")


if __name__ == "__main__":
    main(sys.argv[1:])
