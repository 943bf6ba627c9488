"""Killed, crowded, broken or empty: each trouble gets one clear sentence, and the next run heals it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from godhand_web.cli import record
from godhand_web.cli.processes import is_same, wait_until
from sandboxes import network
from sandboxes.images import workshop
from sandboxes.network import SERVICE_USER

from .aftermath import NOBODY, listens, ready
from .running import ROOT, Installation, Up

SERVICES = ("redis", "resolver", "machines", "agents", "beat", "gate", "web")


def serves(installation: Installation, name: str, said: bytes) -> bool:
    """By what others have of it; of those that only work for themselves, by what they have said since."""
    match name:
        case "gate":
            return listens("127.0.0.1", installation.gate_port)
        case "resolver":
            return listens(str(network.nameserver_address(installation.host)), 53)
        case "beat":
            return b"Sending due task" in said
        case "machines" | "agents":
            return b" ready." in said
    return True


@pytest.mark.parametrize("name", SERVICES)
def test_it_restarts_a_service_that_was_killed(running: Up, name: str) -> None:
    installation = running.installation
    log = installation.home / "logs" / f"{name}.log"
    pid, started = installation.services()[name]
    os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: not is_same(pid, started), 10)
    length = log.stat().st_size
    assert wait_until(lambda: installation.living() == set(SERVICES), 30)
    assert wait_until(lambda: serves(installation, name, log.read_bytes()[length:]), 60)
    assert wait_until(lambda: ready(installation), 30)


@pytest.mark.parametrize("name", ["logs/web.log", "own/up.json", "own/up.lock"])
def test_it_lets_no_service_lay_a_link_where_root_opens_a_file(running: Up, name: str) -> None:
    file = running.installation.home / name
    service = ["setpriv", f"--reuid={SERVICE_USER}", f"--regid={SERVICE_USER}", "--clear-groups"]
    laid = subprocess.run([*service, "ln", "-sf", "/dev/null", str(file)], capture_output=True, check=False)
    assert laid.returncode == 1
    assert file.is_file()
    assert not file.is_symlink()


@pytest.mark.parametrize("damage", [b"", b"{}", b'"x"', b'{"pid": 0, "started": null, "services": {"web": [-1, 1]}}'])
def test_it_writes_down_again_what_was_lost(running: Up, damage: bytes) -> None:
    installation = running.installation
    before = installation.services()
    (installation.home / "own" / "up.json").write_bytes(damage)
    assert wait_until(lambda: installation.services() == before, 10)
    assert installation.call("status").returncode == 0


def test_it_makes_the_secret_anew_that_a_full_disk_cut_off(installation: Installation) -> None:
    secret = installation.home / "secret_key"
    secret.touch()
    installation.up().wait_for_link()
    assert len(secret.read_text()) > 40


def test_it_tells_the_address_of_what_runs_and_not_of_its_own_settings(running: Up) -> None:
    elsewhere = replace(running.installation, extra={"GODHAND_PORT": "9"})
    for command in ("up", "status"):
        assert f"http://localhost:{running.installation.port}/login/link/" in elsewhere.call(command).stdout


def test_it_does_not_call_serving_what_is_just_ending(running: Up) -> None:
    installation = running.installation
    own = installation.home / "own/up.json"
    os.kill(running.process.pid, signal.SIGSTOP)
    before = own.read_text()
    try:
        own.write_text(json.dumps({**json.loads(before), "doing": record.ENDING}))
        status, second = installation.call("status"), installation.call("up")
    finally:
        own.write_text(before)
        os.kill(running.process.pid, signal.SIGCONT)
    assert (status.returncode, status.stdout) == (3, "GodHand is just ending.\n")
    assert (second.returncode, second.stderr) == (1, "GodHand is just ending: run this again in a moment.\n")


def test_it_does_not_fight_a_second_up(running: Up) -> None:
    before = running.installation.services()
    second = running.installation.call("up")
    assert second.returncode == 0
    assert "runs already" in second.stdout
    assert "/login/link/" in second.stdout
    assert "Ctrl-C" not in second.stdout
    assert running.installation.services() == before


@pytest.fixture
def preparing(installation: Installation) -> Iterator[Up]:
    """An `up` that waits for an image which somebody else builds."""
    images = installation.home / "images"
    installation.extra = {"GODHAND_IMAGES": str(images)}
    with workshop.locked(images / "desktop", lambda: None):
        up = installation.up()
        up.wait_for("waiting for it")
        yield up
        up.stop()


def test_it_tells_that_it_is_still_starting_and_can_be_ended_then(preparing: Up) -> None:
    installation = preparing.installation
    status, second = installation.call("status"), installation.call("up")
    for told, code, text in ((status, 3, status.stdout), (second, 1, second.stderr)):
        assert told.returncode == code
        assert "still starting" in text
        assert "another build of desktop is running" in text
    down = installation.call("down")
    assert down.returncode == 0
    assert "stopping GodHand" in down.stdout
    assert preparing.process.wait(10) == 0
    assert "does not run" in installation.call("status").stdout


def test_it_heals_when_up_was_killed_before_there_was_a_database(preparing: Up) -> None:
    preparing.stop(signal.SIGKILL)
    down = preparing.installation.call("down")
    assert down.returncode == 0, down.stderr
    assert "does not run" in preparing.installation.call("down").stdout


def test_it_says_which_port_is_taken(installation: Installation) -> None:
    with socket.create_server(("127.0.0.1", installation.port)):
        refused = installation.call("up")
    assert refused.returncode == 1
    assert f"Port {installation.port}" in refused.stderr
    assert "GODHAND_PORT" in refused.stderr


def fill(file: Path) -> None:
    with suppress(OSError), file.open("wb", buffering=0) as filler:
        while filler.write(bytes(1 << 12)):
            pass


def test_it_names_the_fix_for_a_full_disk(installation: Installation) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=755", "none", str(installation.home)], check=True)
    try:
        assert installation.call("status").returncode == 3
        installation.call("up")
        fill(installation.home / "filler")
        refused = installation.call("up")
        assert refused.returncode == 1
        assert "GiB are free" in refused.stderr
        assert "Traceback" not in refused.stderr
        assert "GODHAND_HOME" in refused.stderr
    finally:
        subprocess.run(["umount", str(installation.home)], check=True)


def test_it_refuses_a_python_that_its_services_cannot_run(installation: Installation, tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    closed = shutil.copy(sys.executable, tmp_path / "python3")
    code = "from godhand_web.cli import place; place.prepare()"
    packages = str(Path(pytest.__file__).parents[1])
    environment = {**installation.environment, "PYTHONPATH": f"{ROOT}:{packages}", "PYTHONHOME": sys.base_prefix}
    refused = subprocess.run([closed, "-c", code], env=environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert f"The Python of GodHand is {closed}, which the user “{SERVICE_USER}” cannot enter or run" in refused.stderr
    assert "set GODHAND_PYTHON" in refused.stderr


def test_it_refuses_a_home_that_its_services_cannot_enter(installation: Installation) -> None:
    installation.home.chmod(0o700)
    refused = installation.call("up")
    installation.home.chmod(0o755)
    assert refused.returncode == 1
    assert "cannot enter" in refused.stderr


def test_it_says_what_to_do_when_the_build_of_an_image_was_interrupted(installation: Installation) -> None:
    images = installation.home / "images"
    installation.extra = {"GODHAND_IMAGES": str(images)}
    build = Up(installation, "image", "build", "desktop")
    build.wait_for("resolving packages")
    build.press_ctrl_c()
    assert build.wait_for_end(60) == 130
    assert build.lines[-1] == "Interrupted before it was done: run the same command again.\n"
    assert list((images / "desktop").glob(".building-*")) == []


def test_it_says_how_to_get_runsc(installation: Installation) -> None:
    installation.extra = {"GODHAND_RUNSC": "/nowhere/runsc"}
    seen = installation.call("doctor")
    assert seen.returncode == 1
    assert "GODHAND_RUNSC" in seen.stdout


def test_it_tells_a_person_without_root_what_to_do(installation: Installation) -> None:
    """Through a bind mount: the checkout may lie where nobody but root can look."""
    seen = f'mount --bind "$1" "$2" && exec setpriv {NOBODY} "$2/godhand" test'
    argv = ["unshare", "--mount", "sh", "-c", seen, "sh", str(ROOT), str(installation.home)]
    refused = subprocess.run(argv, env=installation.environment, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert "as root" in refused.stderr


def test_it_reports_that_nothing_runs(installation: Installation) -> None:
    assert installation.call("status").returncode == 3
    assert "does not run" in installation.call("down").stdout
