"""Notices that Redis went away: hints were lost, so whoever listens has to connect and look again."""

import asyncio
from contextlib import suppress
from typing import Any, Protocol

from django.conf import settings
from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

SERVICE_RESTART = 4012
"""1012 in the range that Daphne lets an application use."""

NOBODY_WRITES_HERE = "hints:nobody"


class Listener(Protocol):
    async def close(self, code: int) -> Any: ...


class Line:
    """One connection for all listeners of a process, on which nothing is ever said. It lasts while somebody listens."""

    def __init__(self) -> None:
        self._listeners: set[Listener] = set()
        self._watch: asyncio.Task[None] | None = None

    def join(self, listener: Listener) -> None:
        self._listeners.add(listener)
        if self._watch is None:
            self._watch = asyncio.create_task(self._until_it_breaks())

    def leave(self, listener: Listener) -> None:
        self._listeners.discard(listener)
        if self._watch and not self._listeners:
            self._watch.cancel()
            self._watch = None

    async def _until_it_breaks(self) -> None:
        with suppress(OSError, RedisError):
            async with Redis.from_url(settings.REDIS_URL, socket_timeout=None, retry=Retry(NoBackoff(), 0)) as redis:
                await redis.blpop([NOBODY_WRITES_HERE], timeout=0)
        cut_off, self._listeners, self._watch = self._listeners, set(), None
        await asyncio.gather(*(listener.close(code=SERVICE_RESTART) for listener in cut_off), return_exceptions=True)
