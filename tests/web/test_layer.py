"""Everybody who listens in an event loop does so over one connection, and none of them mends it."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable
from typing import cast

import pytest
from channels.layers import get_channel_layer
from django.conf import LazySettings
from django.db import DatabaseError
from redis.exceptions import RedisError

from godhand_web.access import Person
from godhand_web.consumers import Hints
from godhand_web.layer import LOST, Layer
from sandboxes.publish import MachineChanged
from tests.broker import Broker

LISTENERS = 4
HINT = {"type": "machine.changed"}
OTHER = {"type": "run.changed"}


async def listener(layer: Layer, group: str) -> str:
    channel = await layer.new_channel()
    await layer.group_add(group, channel)
    return channel


async def told(layer: Layer, channel: str) -> object:
    return await asyncio.wait_for(layer.receive(channel), 20)


async def subscribers(layer: Layer, group: str) -> int:
    [(_, count)] = await layer._line().redis.pubsub_numsub(f"hints:{group}")
    return int(count)


async def until(condition: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(20):
        while not await condition():
            await asyncio.sleep(0.01)


async def cut(layer: Layer) -> None:
    """What a dying Redis does to whoever listens, while it goes on for everybody else."""
    await layer._line().redis.client_kill_filter(_type="pubsub")


def test_it_brings_each_hint_to_those_who_listen_for_it(broker: Broker) -> None:
    async def hear() -> None:
        layer = Layer(broker.url)
        first, second, third = [await listener(layer, group) for group in ("one", "one", "two")]
        await layer.group_add("two", first)
        for group, hint in (("one", HINT), ("two", OTHER)):
            await layer.group_send(group, hint)
        assert [await told(layer, first), await told(layer, first)] == [HINT, OTHER]
        assert (await told(layer, second), await told(layer, third)) == (HINT, OTHER)
        await layer.group_discard("one", first)
        await layer.group_send("one", HINT)
        await layer.group_send("two", OTHER)
        assert (await told(layer, second), await told(layer, first)) == (HINT, OTHER)

    asyncio.run(hear())


def test_it_asks_redis_for_nothing_that_nobody_listens_for(broker: Broker) -> None:
    async def hear() -> None:
        layer = Layer(broker.url)
        channels = [await listener(layer, "one") for _ in range(2)]
        await layer.group_discard("one", channels[0])
        assert await subscribers(layer, "one") == 1
        await layer.group_discard("one", channels[1])

        async def is_left() -> bool:
            return await subscribers(layer, "one") == 0

        await until(is_left)

    asyncio.run(hear())


def test_it_tells_each_listener_that_hints_were_lost(broker: Broker) -> None:
    async def hear() -> list[object]:
        layer = Layer(broker.url)
        channels = [await listener(layer, group) for group in ("one", "one", "two")]
        await asyncio.to_thread(broker.stop)
        return [await told(layer, channel) for channel in channels]

    assert asyncio.run(hear()) == [LOST] * 3


def test_it_says_the_first_hint_after_a_restart_also_over_tcp(broker: Broker) -> None:
    """What has said hints before looks whole then; who listens has come since, over a connection of its own."""

    async def hear() -> object:
        speaker, layer = Layer(broker.tcp_url), Layer(broker.url)
        await asyncio.gather(*(speaker.group_send("one", OTHER) for _ in range(LISTENERS)))
        await asyncio.to_thread(broker.stop)
        await asyncio.to_thread(broker.start)
        channel = await listener(layer, "one")
        await speaker.group_send("one", HINT)
        return await told(layer, channel)

    assert asyncio.run(hear()) == HINT


class Failing(Hints):
    async def group_for(self, person: Person) -> str | None:
        return "one"

    async def machine_changed(self, hint: MachineChanged) -> None:
        raise DatabaseError("It is away.")


def test_it_keeps_nothing_for_a_socket_whose_handler_failed(broker: Broker, settings: LazySettings) -> None:
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "godhand_web.layer.Layer", "CONFIG": {"url": broker.url}}}

    async def fail() -> None:
        inbox, accepted = asyncio.Queue[dict[str, str]](), asyncio.Event()

        async def send(_: object) -> None:
            accepted.set()

        await inbox.put({"type": "websocket.connect"})
        page = asyncio.create_task(Failing()({"type": "websocket", "user": None}, inbox.get, send))
        await accepted.wait()
        layer = cast(Layer, get_channel_layer())
        await layer.group_send("one", HINT)
        with pytest.raises(DatabaseError):
            await page
        assert not layer._line().listeners
        assert not layer._line().ear.groups

    asyncio.run(fail())


def test_it_refuses_who_comes_while_redis_is_away_and_remembers_nothing_of_it(broker: Broker) -> None:
    async def hear() -> None:
        layer = Layer(broker.url)
        await asyncio.to_thread(broker.stop)
        channel = await layer.new_channel()
        with pytest.raises(RedisError):
            await layer.group_add("one", channel)
        await asyncio.to_thread(broker.start)
        await listener(layer, "two")
        assert await subscribers(layer, "one") == 0

    asyncio.run(hear())


def test_it_hears_at_the_first_try_however_many_come_when_redis_is_back(broker: Broker) -> None:
    async def hear() -> None:
        layer = Layer(broker.url)
        groups = map(str, itertools.count())
        for _ in range(10):
            before = await listener(layer, next(groups))
            await asyncio.to_thread(broker.stop)
            assert await told(layer, before) == LOST
            await asyncio.to_thread(broker.start)
            group = next(groups)
            channels = await asyncio.gather(*(listener(layer, group) for _ in range(LISTENERS)))
            await layer.group_send(group, HINT)
            assert [await told(layer, channel) for channel in channels] == [HINT] * LISTENERS

    asyncio.run(hear())


def test_it_hears_after_a_restart_while_nobody_listened(broker: Broker) -> None:
    async def hear() -> object:
        layer = Layer(broker.url)
        first = await listener(layer, "one")
        await layer.group_discard("one", first)
        await asyncio.to_thread(broker.stop)
        await asyncio.to_thread(broker.start)
        second = await listener(layer, "two")
        await layer.group_send("two", HINT)
        return await told(layer, second)

    assert asyncio.run(hear()) == HINT


@pytest.mark.parametrize("turns", range(-6, 12))
def test_it_hears_whenever_the_connection_breaks_while_somebody_comes_or_goes(broker: Broker, turns: int) -> None:
    """The turns of the event loop between the break and the coming and going, which is first when they are negative."""

    async def hear(comes: bool) -> None:
        layer = Layer(broker.url)
        watching = await listener(layer, "watched")
        other = await (layer.new_channel() if comes else listener(layer, "one"))
        acts = [cut(layer), (layer.group_add if comes else layer.group_discard)("one", other)]
        first, second = acts if turns >= 0 else reversed(acts)
        under_way = asyncio.ensure_future(first)
        for _ in range(abs(turns)):
            await asyncio.sleep(0)
        await asyncio.gather(under_way, second, return_exceptions=True)
        assert await told(layer, watching) == LOST
        newcomer = await listener(layer, "one")
        await layer.group_send("one", HINT)
        assert await told(layer, newcomer) == HINT

    asyncio.run(hear(comes=True))
    asyncio.run(hear(comes=False))
