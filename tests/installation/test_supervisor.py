"""A worker that is started anew is not taken for alive because of the one before it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from redis import Redis

from godhand_web.cli import record
from godhand_web.cli.services import Service, services
from godhand_web.cli.supervisor import GaveUp, Supervisor
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
