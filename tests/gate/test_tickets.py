from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from redis import Redis

from sandboxes.gate.tickets import Ticket, issue, redeem


@pytest.fixture
def redis(redis_url: str) -> Iterator[Redis]:
    with Redis.from_url(redis_url) as client:
        yield client


def test_it_redeems_what_it_issued_once(redis: Redis) -> None:
    secret = issue(redis, "m1", "7", "drive")
    assert redeem(redis, secret) == Ticket("m1", "7", "drive")
    assert redeem(redis, secret) is None


def test_it_redeems_nothing_else(redis: Redis) -> None:
    assert redeem(redis, "") is None
    assert redeem(redis, "made-up") is None


def test_it_gives_a_contested_ticket_to_one(redis: Redis) -> None:
    secret = issue(redis, "m1", "7", "view")
    with ThreadPoolExecutor(8) as pool:
        redeemed = list(pool.map(lambda _: redeem(redis, secret), range(8)))
    assert sum(ticket is not None for ticket in redeemed) == 1


def test_it_keeps_neither_the_secret_nor_the_ticket_for_long(redis: Redis) -> None:
    secret = issue(redis, "m1", "7", "view")
    keys = [key.decode() for key in redis.scan_iter("gate:ticket:*")]
    assert keys
    assert not any(secret in key for key in keys)
    assert all(0 < redis.ttl(key) <= 30 for key in keys)
    assert len(secret) >= 43
