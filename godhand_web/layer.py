"""How hints travel: a channel layer on Redis, with one connection for all who listen in an event loop.

Hints that were sent while that was broken are lost, so nobody mends it: whoever listened is told, and has to connect
and look again. The layer of channels_redis mends it, in its reader and in its subscribers, which take each other's
replies when they do so at once: a page was refused then, stood still for five seconds, or never heard again.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import uuid4

from redis.asyncio import Redis
from redis.asyncio.client import PubSub
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Broken
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

Message = dict[str, Any]
Listener = asyncio.Queue[Message]

LOST = {"type": "hints.lost"}
PREFIX = "hints:"


class Unmended(PubSub):
    """Connects once, and raises Broken from when that connection is gone."""

    connection: AbstractConnection | None  # type: ignore[assignment]

    async def connect(self) -> None:
        self._require(self.connection is None or self.connection.is_connected)
        await super().connect()  # type: ignore[no-untyped-call]

    async def parse_response(self, block: bool = True, timeout: float = 0) -> Any:
        self._require(self.connection is not None and self.connection.is_connected)
        return await super().parse_response(block, timeout)

    def _require(self, connected: bool) -> None:
        if not connected:
            raise Broken("The connection to Redis broke.")

    async def _reconnect(self, *args: Any, **more: Any) -> None:
        pass


class Ear:
    """One connection and who listens over it, until it breaks."""

    def __init__(self, redis: Redis) -> None:
        self.pubsub = Unmended(redis.connection_pool)
        self.groups: dict[str, set[Listener]] = {}
        self.reader: asyncio.Task[None] | None = None
        self.is_broken = False

    async def join(self, group: str, listener: Listener) -> None:
        """Raises RedisError."""
        if group not in self.groups:
            await self._say(self.pubsub.subscribe, group)
            self.reader = self.reader or asyncio.create_task(self._read())
            self.groups[group] = set()
        self.groups[group].add(listener)

    async def leave(self, group: str, listener: Listener) -> None:
        """Raises RedisError."""
        members = self.groups.get(group, set())
        members.discard(listener)
        if group in self.groups and not members:
            del self.groups[group]
            await self._say(self.pubsub.unsubscribe, group)

    async def _say(self, command: Callable[[str], Awaitable[None]], group: str) -> None:
        try:
            await command(PREFIX + group)
        except Exception as error:
            await self.end(error)
            raise Broken("Redis does not answer.") from error
        if self.is_broken:
            raise Broken("Redis went away meanwhile.")

    async def _read(self) -> None:
        try:
            while True:
                heard = await self.pubsub.get_message(ignore_subscribe_messages=True, timeout=None)
                if heard:
                    self._tell(heard["channel"].decode().removeprefix(PREFIX), json.loads(heard["data"]))
        except Exception as error:
            await self.end(error)

    def _tell(self, group: str, message: Message) -> None:
        for listener in self.groups.get(group, ()):
            listener.put_nowait(message)

    async def end(self, error: Exception) -> None:
        """Once, whoever notices it first."""
        if self.is_broken:
            return
        self.is_broken = True
        log.warning("hints are lost: %s", error)
        for listener in set[Listener]().union(*self.groups.values()):
            listener.put_nowait(LOST)
        await self.close()

    async def close(self) -> None:
        if self.reader and self.reader is not asyncio.current_task():
            self.reader.cancel()
        await self.pubsub.aclose()  # type: ignore[no-untyped-call]


class Line:
    """What is said and heard in one event loop."""

    def __init__(self, url: str) -> None:
        self.redis = Redis.from_url(url, retry=Retry(NoBackoff(), 0))
        self.ear = Ear(self.redis)
        self.listeners: dict[str, Listener] = {}
        self.lock = asyncio.Lock()

    async def join(self, group: str, channel: str) -> None:
        async with self.lock:
            try:
                await self._whole_ear().join(group, self.listeners[channel])
            except RedisError:
                # The connection may have broken while nobody listened.
                await self._whole_ear().join(group, self.listeners[channel])

    async def leave(self, group: str, channel: str) -> None:
        async with self.lock:
            if not self.ear.is_broken and channel in self.listeners:
                await self.ear.leave(group, self.listeners[channel])

    def _whole_ear(self) -> Ear:
        if self.ear.is_broken:
            self.ear = Ear(self.redis)
        return self.ear

    async def close(self) -> None:
        await self.ear.close()
        await self.redis.aclose()


class Layer:
    """What Channels asks of a layer, for groups. Nobody sends to a single channel."""

    extensions = ["groups"]

    def __init__(self, url: str) -> None:
        self.url = url
        self.lines: dict[asyncio.AbstractEventLoop, Line] = {}

    def _line(self) -> Line:
        loop = asyncio.get_running_loop()
        if loop not in self.lines:
            self.lines[loop] = Line(self.url)
            self._end_with(loop)
        return self.lines[loop]

    def _end_with(self, loop: asyncio.AbstractEventLoop) -> None:
        """Connections can only be closed in the loop that they were made in, and it does not tell when it ends."""
        close = loop.close

        def end_and_close() -> None:
            loop.close = close  # type: ignore[method-assign]
            loop.run_until_complete(self.lines.pop(loop).close())
            close()

        loop.close = end_and_close  # type: ignore[method-assign]

    async def new_channel(self, prefix: str = "specific.") -> str:
        channel = f"{prefix}{uuid4().hex}"
        self._line().listeners[channel] = asyncio.Queue()
        return channel

    async def receive(self, channel: str) -> Message:
        listeners = self._line().listeners
        try:
            return dict(await listeners[channel].get())
        except asyncio.CancelledError:
            # This is how Channels says that nobody listens any more.
            self.drop(channel)
            raise

    def drop(self, channel: str) -> None:
        self._line().listeners.pop(channel, None)

    async def group_add(self, group: str, channel: str) -> None:
        """Raises RedisError."""
        await self._line().join(group, channel)

    async def group_discard(self, group: str, channel: str) -> None:
        """Raises RedisError."""
        await self._line().leave(group, channel)

    async def group_send(self, group: str, message: Message) -> None:
        """Raises RedisError."""
        redis, said = self._line().redis, (PREFIX + group, json.dumps(message))
        try:
            await redis.publish(*said)
        except Broken:
            # Idle connections from before a restart of Redis look whole, over TCP.
            await redis.connection_pool.disconnect(inuse_connections=False)
            await redis.publish(*said)
