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
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from godhand_web.cli import benchmarks, commands, system  # noqa: E402

VENV = ROOT / ".venv"
VENV_LOCK = ROOT / ".venv.lock"
PYTHON = VENV / "bin" / "python"
RUNTIME_LOCK = ROOT / "requirements.lock"
DEV_LOCK = ROOT / "requirements-dev.lock"
DEV_COMMANDS = {"test", "bench"}
ROOT_COMMANDS = {"demo", "test", "bench", "image build", "shell"}
MACHINE_COMMANDS = {"demo", "up", "test", "bench"}
READ_ONLY_COMMANDS = {"doctor", "status", "down", "logs"}


def main(arguments: list[str]) -> None:
    command = commands.chosen(arguments)
    if command == "bench":
        benchmarks.chosen(arguments[1:])
    helps = {"-h", "--help"} & set(arguments)
    privileged = {command, " ".join(arguments[:2])} & ROOT_COMMANDS
    if privileged and os.geteuid() != 0 and not helps:
        name = privileged.pop()
        sys.exit(f"“{name}” is for real machines, which need root: run ./godhand {name} as root.")
    system.reach_administration()
    if command not in READ_ONLY_COMMANDS and not helps:
        system.install(for_development=command in DEV_COMMANDS)
        ensure_venv(DEV_LOCK if command in DEV_COMMANDS else RUNTIME_LOCK, with_image=command in MACHINE_COMMANDS)
    elif command in READ_ONLY_COMMANDS - {"doctor"} and not stamp_of(RUNTIME_LOCK).exists():
        sys.exit("GodHand is not installed here yet: ./godhand up installs and starts it.")
    if helps and not stamp_of(RUNTIME_LOCK).exists():
        # A command's own help needs what is not installed yet.
        arguments = []
    python = str(PYTHON) if PYTHON.exists() else sys.executable
    os.environ["PYTHONPATH"] = str(ROOT)
    os.execv(python, [python, "-m", "godhand_web.cli", *arguments])


def ensure_venv(lock: Path, *, with_image: bool) -> None:
    if is_installed(lock):
        return
    if not os.access(ROOT, os.W_OK) or (VENV_LOCK.exists() and not os.access(VENV_LOCK, os.W_OK)):
        sys.exit(f"GodHand installs its Python packages into {VENV}, which you may not write: clone it as yourself.")
    with ExitStack() as meanwhile, alone():
        if is_installed(lock):
            return
        make_venv()
        if with_image and os.geteuid() == 0:
            meanwhile.enter_context(image_meanwhile())
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


def make_venv() -> None:
    """Anew when it is half made, or of another Python, such as the one before an upgrade of the system."""
    library = VENV / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    if not PYTHON.exists() or not (library / "pip").exists():
        system.say("Making .venv")
        run([sys.executable, "-m", "venv", "--clear", str(VENV)], "make a virtual environment")


def install(lock: Path) -> None:
    started = time.monotonic()
    system.say(f"Installing Python packages from {lock.name}")
    options = ["--quiet", "--disable-pip-version-check", "--require-hashes"]
    run([str(PYTHON), "-m", "pip", "install", *options, "-r", str(lock)], "install the Python packages")
    for each in {lock, RUNTIME_LOCK}:
        stamp_of(each).write_text(fingerprint(each))
    system.say(f"Python packages are in place ({time.monotonic() - started:.0f} s)")


@contextmanager
def image_meanwhile() -> Iterator[None]:
    """What the next command would build first is built by the time this ends. It ends with us, however we end."""
    argv = ["setpriv", "--pdeathsig", "TERM", str(PYTHON), "-m", "godhand_web.cli.ahead"]
    builder = subprocess.Popen(argv, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdin=subprocess.DEVNULL)
    try:
        yield
        builder.wait()
    except BaseException:
        builder.terminate()
        builder.wait()
        raise


def fingerprint(lock: Path) -> str:
    return hashlib.sha256(lock.read_bytes() + platform.python_version().encode()).hexdigest()


def run(argv: list[str], what: str) -> None:
    if subprocess.run(argv, check=False).returncode:
        sys.exit(f"GodHand could not {what}. The lines above say why; run the same command again afterwards.")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        system.end_interrupted()
