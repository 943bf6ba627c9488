"""A worker that is started anew is not taken for alive because of the one before it."""

import errno
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis

from godhand_web.cli import record
from godhand_web.cli.services import Service, services
from godhand_web.cli.supervisor import MOST_DEATHS, GaveUp, Supervisor
from sandboxes.host import here

WORKERS = ("machines", "agents")


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    here().logs.mkdir(exist_ok=True)
    supervisor = Supervisor()
    yield supervisor
    supervisor.stop()
    record.forget()


@pytest.fixture
def earlier(redis_url: str) -> Iterator[Redis]:
    """Where workers that are dead have said a moment ago that they live."""
    with Redis.from_url(redis_url) as redis:
        redis.mset({f"alive:{name}": 1 for name in WORKERS})
        yield redis
        redis.delete(*(f"alive:{name}" for name in WORKERS))


def worker(name: str, argv: list[str]) -> Service:
    return replace(next(service for service in services() if service.name == name), argv=argv)


@pytest.mark.parametrize("name", WORKERS)
def test_it_does_not_take_an_earlier_worker_for_the_one_it_starts(
    supervisor: Supervisor, earlier: Redis, name: str
) -> None:
    with pytest.raises(GaveUp, match="ended while starting"):
        supervisor.start(worker(name, ["false"]))


@pytest.mark.parametrize("name", WORKERS)
def test_it_does_not_take_an_earlier_worker_for_the_one_it_restarts(
    supervisor: Supervisor, earlier: Redis, name: str
) -> None:
    with pytest.raises(GaveUp):
        supervisor.start(worker(name, ["false"]))
    earlier.set(f"alive:{name}", 1)
    supervisor.tend()
    assert not earlier.exists(f"alive:{name}")


@pytest.fixture
def sleeper(supervisor: Supervisor, tmp_path: Path) -> Path:
    """The program of a service that runs."""
    program = tmp_path / "sleeper"
    program.write_text("#!/bin/sh\nexec sleep 600\n")
    program.chmod(0o755)
    supervisor.start(Service("sleeper", [str(program)], lambda: True))
    return program


def end(supervisor: Supervisor) -> None:
    process = supervisor.running["sleeper"].process
    process.kill()
    process.wait()


@pytest.mark.usefixtures("sleeper")
def test_it_writes_down_what_it_restarted_once_the_disk_has_room(
    supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as full:
        full.setattr(record, "write", is_full)
        end(supervisor)
        supervisor.tend()
    process, written = supervisor.running["sleeper"].process, record.read()
    assert process.poll() is None
    assert written
    assert written["services"]["sleeper"][0] != process.pid
    supervisor.tend()
    written = record.read()
    assert written
    assert written["services"]["sleeper"][0] == process.pid


def is_full(_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_it_goes_on_trying_to_restart_what_cannot_be_started(
    supervisor: Supervisor, sleeper: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    away = sleeper.rename(sleeper.with_name("away"))
    end(supervisor)
    for _ in range(MOST_DEATHS + 2):
        supervisor.tend()
    assert capsys.readouterr().out.count("cannot be started again yet: No such file") == 1
    away.rename(sleeper)
    supervisor.tend()
    assert supervisor.running["sleeper"].process.poll() is None
