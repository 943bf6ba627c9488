"""The first command of all, in a checkout with no packages to install."""

import fcntl
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from .running import ROOT

Start = Callable[[str], subprocess.Popen[str]]
FILES = ("godhand", "godhand_web/cli/__init__.py", "godhand_web/cli/bootstrap.py", "godhand_web/cli/system.py")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "godhand_web/cli/__main__.py").write_text("print('handed over')")
    (tmp_path / "requirements.lock").write_text("# nothing\n")
    return tmp_path


@pytest.fixture
def start(checkout: Path) -> Iterator[Start]:
    with ExitStack() as stack:

        def begin(command: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                ["./godhand", command], cwd=checkout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield begin


def test_it_makes_one_venv_for_two_first_commands(checkout: Path, start: Start) -> None:
    """Both are held up by a third, so that neither has made anything when the other begins."""
    with (checkout / ".venv.lock").open("w") as third:
        fcntl.flock(third, fcntl.LOCK_EX)
        commands = [start("manage") for _ in range(2)]
        for command in commands:
            assert command.stdout
            assert "waiting for it" in command.stdout.readline()
        assert not (checkout / ".venv").exists()
    said = [command.communicate(timeout=120)[0] for command in commands]
    assert [command.returncode for command in commands] == [0, 0]
    assert sorted(text.count("Making .venv") for text in said) == [0, 1]
    assert all("handed over" in text for text in said)


def test_it_calls_a_venv_that_is_being_made_not_installed(checkout: Path, start: Start) -> None:
    (checkout / ".venv/bin").mkdir(parents=True)
    (checkout / ".venv/bin/python").symlink_to("/usr/bin/python3")
    status = start("status")
    assert "not installed here yet" in status.communicate(timeout=30)[0]
    assert status.returncode == 1
