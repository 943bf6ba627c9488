"""What desktops look like now, small and for the moment: made only of those that somebody looks at, and kept nowhere.

Pages say which machines they show and are told the name of each one's newest picture. A worker on the host of the
machines keeps one connection to each of those desktops, looks every few seconds, and leaves new pictures in memory that
both share. Nobody is in touch with a machine merely because it is on a wall: `ports` tells these connections apart.
"""

import logging
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from typing import cast

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from . import lifecycle
from .display.glance import Glance
from .errors import SandboxError
from .host import here
from .models import Machine, State
from .shelf import Shelf

log = logging.getLogger(__name__)

WIDTH = 480
QUALITY = 70
WATCHED_SECONDS = 8
AGAIN_SECONDS = 10
MOST_DOUBLED = 5
PORTS_SECONDS = 60
ROUND_BUDGET = 1.5
"""Seconds of a round after which the rest of the pictures wait for the next."""

MOST = 64
"""Desktops that are looked at: each keeps a connection, and a screen of a few megabytes in memory."""

WATCHED, PORTS = "wall:watched", "wall:ports"


@cache
def _redis() -> Redis:
    return Redis.from_url(settings.REDIS_URL, socket_timeout=2)


@cache
def _shelf() -> Shelf:
    return Shelf(f"godhand-{here().instance}-thumbnails", otherwise=here().run)


def watch(machine_ids: Sequence[str]) -> dict[str, str]:
    """Keep pictures of these coming for some seconds; the name of each one's newest, where there is one."""
    if machine_ids:
        until = time.time() + WATCHED_SECONDS
        try:
            _redis().zadd(WATCHED, dict.fromkeys(machine_ids, until))
        except RedisError as error:
            log.warning("no thumbnails: %s", error)
    return _shelf().names(machine_ids)


def picture(machine_id: str) -> tuple[str, bytes] | None:
    """The newest one's name and content, a WebP."""
    return _shelf().get(machine_id)


def keep(machine_id: str, content: bytes) -> None:
    """Raises OSError."""
    _shelf().put(machine_id, content)


def clear() -> None:
    """At shutdown."""
    _shelf().clear()


def ports() -> set[int]:
    """Of this host's connections that only look."""
    try:
        return {int(port) for port in _redis().smembers(PORTS)}
    except RedisError:
        return set()


class Watchman:
    """Goes round; not for several threads."""

    def __init__(self) -> None:
        self._glances: dict[str, Glance] = {}
        self._later: dict[str, float] = {}
        self._failures: dict[str, int] = {}
        self._seen: dict[str, float] = {}

    def go_round(self) -> None:
        wanted = self._wanted()
        for machine_id in [each for each in self._glances if each not in wanted]:
            self._drop(machine_id)
        if not wanted:
            self._later, self._seen, self._failures = {}, {}, {}
            return
        ends = time.monotonic() + ROUND_BUDGET
        for machine_id in sorted(wanted, key=lambda each: self._seen.get(each, 0)):
            if time.monotonic() > ends:
                break
            self._seen[machine_id] = time.monotonic()
            self._look(wanted[machine_id])
        self._tell_ports()

    def _wanted(self) -> dict[str, Machine]:
        _redis().zremrangebyscore(WATCHED, 0, time.time())
        ids = [cast(bytes, machine_id).decode() for machine_id in _redis().zrevrange(WATCHED, 0, MOST - 1)]
        if not ids:
            return {}
        return Machine.objects.filter(host=settings.MACHINE_HOST, state=State.READY).in_bulk(ids)

    def _look(self, machine: Machine) -> None:
        if self._later.get(machine.pk, 0) > time.monotonic():
            return
        try:
            glance = self._glances.get(machine.pk) or self._begin(machine)
            if glance.look() or not _shelf().touch(machine.pk):
                keep(machine.pk, glance.screen().thumbnail(WIDTH).encode("webp", quality=QUALITY))
        except (SandboxError, OSError, KeyError) as error:
            log.info("no thumbnail of machine %s: %s", machine.pk, error)
            self._drop(machine.pk)
            failures = self._failures[machine.pk] = min(MOST_DOUBLED, self._failures.get(machine.pk, 0) + 1)
            self._later[machine.pk] = time.monotonic() + AGAIN_SECONDS * 2 ** (failures - 1)

    def _begin(self, machine: Machine) -> Glance:
        sandbox = lifecycle.attach(machine)
        endpoint = sandbox.endpoint()
        self._glances[machine.pk] = Glance.connect(endpoint.host, endpoint.vnc_port, sandbox.lifeline())
        self._tell_ports()
        return self._glances[machine.pk]

    def _drop(self, machine_id: str) -> None:
        glance = self._glances.pop(machine_id, None)
        _shelf().remove(machine_id)
        if glance:
            glance.close()

    def _tell_ports(self) -> None:
        with _redis().pipeline() as told:
            told.delete(PORTS)
            if self._glances:
                told.sadd(PORTS, *(glance.port for glance in self._glances.values()))
                told.expire(PORTS, PORTS_SECONDS)
            told.execute()


_watchman = Watchman()


def go_round() -> None:
    """Again and again, by one thread of one process on the machines' host. Without Redis nobody says what they see."""
    with suppress(RedisError):
        _watchman.go_round()
