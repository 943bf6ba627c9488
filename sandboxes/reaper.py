"""Makes rows and host agree, both ways, and delivers what a lost message left undone.

A thing on the host that no row claims is removed when it is seen again a minute after its first sighting: until then,
whoever is making it has time to say so. At start-up nothing is being made, so one sighting is enough.
"""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta

import redis
from django.conf import settings
from django.db import DatabaseError
from django.db.models import QuerySet
from django.utils import timezone

from . import database, forking, lifecycle, pool, templates, thumbnails
from .errors import SandboxError
from .host import here
from .idle import connected_addresses
from .limits import Limits
from .models import ENDED, ON_HOST, Machine, State
from .network import ensure_firewall, remove_firewall
from .registry import kinds

log = logging.getLogger(__name__)

AT_ONCE = 8
STRIKE_SECONDS = 600
STRIKES_APART = 60
BEGAN = timezone.now()
"""Of this process, which alone makes and ends the machines of this host: what is older was another's to finish."""


def sweep() -> None:
    """At start-up, before any worker of this host runs."""
    finish_interrupted(older_than=timedelta(0))
    note_dead_machines()
    _remove_all(unclaimed())


def take_up() -> None:
    """By a worker, as soon as it is there: what one that died was in the middle of."""
    finish_interrupted(older_than=timezone.now() - BEGAN)


def clear_host() -> str:
    """At shutdown, when no worker of this host runs any more. Why rows do not tell of it, where there are none.

    Machines go side by side: each waits for a second or two until the kernel has let go of it.
    """
    making = templates.machines_in_use()
    with ThreadPoolExecutor(AT_ONCE) as several:
        list(several.map(_remove, [found for found in _on_host() if found[1] not in making]))
    trouble = ""
    try:
        _end_all()
    except DatabaseError as error:
        trouble = str(error).strip().partition("\n")[0]
    remove_firewall(here())
    thumbnails.clear()
    return trouble


def _end_all() -> None:
    if database.is_missing():
        raise DatabaseError("it is not there")
    for machine in _mine().exclude(state__in=(*ENDED, State.STOPPED)):
        lifecycle.move(machine.pk, State.DESTROYING, "GodHand was shut down")
        with undeterred(machine.pk):
            lifecycle.destroy(machine.pk)
    pool.drain()


def reap() -> None:
    ensure_firewall(here())
    finish_interrupted(older_than=timedelta(seconds=settings.STUCK_SECONDS))
    note_dead_machines()
    stop_unused()
    _remove_all([(kind, machine_id) for kind, machine_id in unclaimed() if _seen_before(machine_id)])
    pool.refresh()


def _seen_before(machine_id: str) -> bool:
    strikes = redis.Redis.from_url(settings.REDIS_URL)
    name = f"reaper:strike:{machine_id}"
    is_first = strikes.set(name, 1, nx=True, ex=STRIKE_SECONDS)
    return not is_first and strikes.ttl(name) <= STRIKE_SECONDS - STRIKES_APART


def unclaimed() -> list[tuple[str, str]]:
    """Looked for on the host before anybody is asked: whoever begins meanwhile is not seen at all."""
    found = _on_host()
    claimed = pool.ids() | templates.machines_in_use()
    claimed |= set(_mine().filter(state__in=ON_HOST).values_list("pk", flat=True))
    return [(kind, machine_id) for kind, machine_id in found if machine_id not in claimed]


def _on_host() -> list[tuple[str, str]]:
    return [(kind, handle["id"]) for kind, sandbox in kinds().items() for handle in sandbox.owned()]


def finish_interrupted(older_than: timedelta) -> None:
    stale = _mine().filter(state_since__lte=timezone.now() - older_than)
    for machine in stale.filter(state=State.DESTROYING):
        with undeterred(machine.pk):
            lifecycle.destroy(machine.pk)
    for machine in stale.filter(state__in=(State.PROVISIONING, State.BOOTING)):
        with undeterred(machine.pk):
            lifecycle.fail(machine.pk, "The worker that was making it died. Try again.")
    for machine in stale.filter(state=State.STOPPING):
        with undeterred(machine.pk):
            forking.stop(machine.pk)
    for machine in stale.filter(state=State.QUEUED):
        lifecycle.enqueue("create", machine)


def note_dead_machines() -> None:
    for machine in _mine().filter(state=State.READY):
        if machine.pk not in forking.going_back and not lifecycle.attach(machine).alive():
            with undeterred(machine.pk):
                lifecycle.lose(machine.pk, "Its processes are gone: the host restarted, or something killed them.")


def stop_unused() -> None:
    """Nobody in touch for too long, or on for too long, by its own limits or else the installation's."""
    now = timezone.now()
    in_touch = connected_addresses(besides=thumbnails.ports())
    for machine in _mine().filter(state=State.READY):
        limits = lifecycle.attach(machine).limits() or Limits()
        idle, wall = limits.idle_minutes or settings.IDLE_MINUTES, limits.wall_minutes or settings.WALL_MINUTES
        used = machine.handle.get("address") in in_touch
        if used:
            Machine.objects.filter(pk=machine.pk).update(last_used_at=now)
        if _older(machine.state_since, wall):
            forking.request_stop(machine, why=f"It has been on for {wall} min")
        elif not used and _older(machine.last_used_at, idle):
            forking.request_stop(machine, why=f"Nobody has used it for {idle} min")


def _older(moment: datetime, minutes: int) -> bool:
    """Zero minutes is for ever."""
    return bool(minutes) and timezone.now() - moment > timedelta(minutes=minutes)


def _mine() -> QuerySet[Machine]:
    return Machine.objects.filter(host=settings.MACHINE_HOST)


def _remove_all(found: list[tuple[str, str]]) -> None:
    for kind, machine_id in found:
        log.warning("removing %s machine %s, which no row claims", kind, machine_id)
        _remove((kind, machine_id))


def _remove(found: tuple[str, str]) -> None:
    kind, machine_id = found
    with undeterred(machine_id):
        kinds()[kind].attach({"id": machine_id}).destroy()


@contextmanager
def undeterred(machine_id: str) -> Iterator[None]:
    """One machine that cannot be dealt with now is left to the next round, and the others get their turn."""
    try:
        yield
    except (SandboxError, OSError):
        log.exception("machine %s is left to the next round", machine_id)
