"""What `up` fetches first: once, and by nobody who was killed meanwhile."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from godhand_web.cli.processes import is_same, start_time, wait_until

from .running import ROOT
from .test_trouble import read

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
        os.kill(pid, signal.SIGSTOP)
    second = fetching(stack)
    assert second.stdout
    assert "waiting for it" in second.stdout.readline()
    first.send_signal(signal.SIGKILL)
    assert wait_until(lambda: not any(is_same(*each) for each in its_own), 10)
    assert "fetching runsc" in second.communicate(timeout=300)[0]
    assert os.access(home / "tools/runsc/usr/bin/runsc", os.X_OK)
    assert sorted(path.name for path in (home / "tools").iterdir()) == [".lock", "runsc"]
