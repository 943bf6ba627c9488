"""What the doctor says is so."""

import json
import socket
import subprocess
from pathlib import Path

import pytest

from godhand_web.cli import bootstrap, doctor, system
from sandboxes.host import here
from sandboxes.images import recipe

from .running import GODHAND, Installation


def test_it_does_not_take_the_port_of_a_stranger_for_ours(installation: Installation) -> None:
    """After an `up` that was killed its record stays."""
    with subprocess.Popen(["true"]) as dead:
        record = {"pid": dead.pid, "started": 1, "services": {}, "doing": "", "url": ""}
    (installation.home / "own").mkdir()
    (installation.home / "own/up.json").write_text(json.dumps(record))
    with socket.create_server(("127.0.0.1", installation.port)):
        seen = installation.call("doctor")
    assert seen.returncode == 1
    assert f"Port {installation.port} on 127.0.0.1 cannot be used" in seen.stdout
    assert f"{installation.gate_port} is free" in seen.stdout


def test_it_asks_the_redis_that_is_named(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for url, answers in ((redis_url, True), (f"{redis_url}.not-there", False), ("redis://localhost:1", False)):
        monkeypatch.setenv("GODHAND_REDIS_URL", url)
        found = doctor.redis()
        assert found.ok == answers
        assert "GODHAND_REDIS_URL" in found.text


def test_it_knows_packages_of_an_older_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.python_packages().ok
    newer = tmp_path / bootstrap.RUNTIME_LOCK.name
    newer.write_text(bootstrap.RUNTIME_LOCK.read_text() + "# newer")
    monkeypatch.setattr(bootstrap, "RUNTIME_LOCK", newer)
    assert not doctor.python_packages().ok


def test_it_asks_for_the_room_that_the_first_image_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.room_to_begin() == system.LEAST_FREE
    monkeypatch.setenv("GODHAND_IMAGES", "/nowhere")
    here.cache_clear()
    needed = doctor.room_to_begin()
    monkeypatch.undo()
    here.cache_clear()
    assert needed == recipe.load("desktop").space_mib << 20 > system.LEAST_FREE
    assert doctor.disk().ok
    assert "GodHand needs 1048576 GiB" in doctor.disk(1 << 50).text


def test_it_promises_no_installation_where_nothing_can_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert "nftables" in doctor.packages().text
    assert not system.may_install()
    assert "./godhand up" not in doctor.packages().text


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_it_falls_silent_when_nobody_reads_on(installation: Installation, unbuffered: str) -> None:
    argv = [GODHAND, "doctor"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    env = {**installation.environment, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(argv, env=env, **pipes) as told:  # type: ignore[call-overload]
        told.stdout.close()
        assert told.stderr.read() == b""
    assert told.returncode == 141
