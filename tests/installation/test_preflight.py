"""What `up` fetches first: once, and by nobody who was killed meanwhile."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from godhand_web.cli import preflight
from godhand_web.cli.processes import is_same, start_time, wait_until
from sandboxes.host import here

from .aftermath import read
from .running import ROOT

FETCH = "import django; django.setup(); from godhand_web.cli import preflight; preflight.ensure_runsc()"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GODHAND_HOME", str(tmp_path))
    monkeypatch.delenv("GODHAND_RUNSC", raising=False)
    return tmp_path


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def fetching(stack: ExitStack) -> "subprocess.Popen[str]":
    process = subprocess.Popen([sys.executable, "-c", FETCH], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    stack.enter_context(process)
    stack.callback(process.kill)
    return process


def at_work(home: Path) -> set[tuple[int, int]]:
    """Every process that was started to write there."""
    found = [int(path.parent.name) for path in Path("/proc").glob("[0-9]*/cmdline") if os.fsencode(home) in read(path)]
    return {(pid, started) for pid in found if (started := start_time(pid))}


def test_it_fetches_runsc_once_also_when_the_first_to_do_so_is_killed(home: Path, stack: ExitStack) -> None:
    first = fetching(stack)
    assert first.stdout
    assert "fetching runsc" in first.stdout.readline()
    assert wait_until(lambda: bool(at_work(home)), 30)
    its_own = at_work(home)
    for pid, _ in its_own:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGSTOP)
    second = fetching(stack)
    assert second.stdout
    assert "waiting for it" in second.stdout.readline()
    first.send_signal(signal.SIGKILL)
    assert wait_until(lambda: not any(is_same(*each) for each in its_own), 10)
    assert "fetching runsc" in second.communicate(timeout=300)[0]
    assert os.access(home / "tools/runsc/usr/bin/runsc", os.X_OK)
    assert sorted(path.name for path in (home / "tools").iterdir()) == [".lock", "runsc"]


@pytest.mark.parametrize("damage", [b"", b"#!/bin/true\n"])
def test_it_takes_a_runsc_that_it_has_fetched_and_that_is_damaged_for_none(
    home: Path, monkeypatch: pytest.MonkeyPatch, damage: bytes
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    here.cache_clear()
    fetched = home / "tools/runsc/usr/bin/runsc"
    fetched.parent.mkdir(parents=True)
    fetched.write_bytes(damage)
    fetched.chmod(0o755)
    try:
        assert not preflight._has_runsc()
        monkeypatch.setenv("GODHAND_RUNSC", str(shutil.copy(fetched, home)))
        with pytest.raises(SystemExit, match=r"/runsc "):
            preflight._has_runsc()
    finally:
        monkeypatch.undo()
        here.cache_clear()


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ("W: Failed to fetch x\nE: mmdebstrap failed to run", "Failed to fetch x. Check the network"),
        ("E: write failed: No space left on device\nE: mmdebstrap failed to run", "is full. Free some space"),
        ("E: no keys\n", "E: no keys. Mend that"),
        ("", "mmdebstrap said nothing. Mend that"),
    ],
)
def test_it_tells_why_runsc_could_not_be_fetched(told: str, said: str) -> None:
    assert preflight._why(told).endswith(said)
