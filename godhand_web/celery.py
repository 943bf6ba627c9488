import logging
import os
import threading
import time
from functools import cache
from typing import Any

from celery import Celery
from celery.signals import (
    after_task_publish,
    beat_init,
    celeryd_after_setup,
    heartbeat_sent,
    worker_ready,
    worker_shutting_down,
)
from django.conf import settings
from django.db import close_old_connections
from django.utils.module_loading import import_string
from redis import Redis

from agents import closing

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")

app = Celery("godhand")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

log = logging.getLogger(__name__)

ALIVE_SECONDS = 30
BEAT_ALONE = "agents.tasks.reconcile"
"""Nobody else sends it, and beat does every few seconds."""

ROUND_SECONDS = 2.0
ROUNDS = {
    "machines": ("sandboxes.reaper.note_dead_machines",),
    "agents": (
        "agents.runner.reconcile",
        "agents.runner.end_bereft",
        "agents.exploring.go_round",
        "agents.places.hand_out",
        "agents.schedules.tick",
        "agents.notify.tick",
        "sandboxes.thumbnails.go_round",
        "agents.witness.go_round",
    ),
}
"""What a worker looks after by itself, so that it is seen to while beat or Redis is away."""


@cache
def _redis() -> Redis:
    return Redis.from_url(settings.REDIS_URL, socket_timeout=2)


@celeryd_after_setup.connect
def keep_to_its_own(sender: str, **_: Any) -> None:
    """Whoever reaches the broker may ask the worker that is root for what only it can do, and for nothing else."""
    if sender.partition("@")[0] == "machines":
        from sandboxes import tasks

        for name in set(app.tasks) - tasks.AS_ROOT:
            app.tasks.unregister(name)


@worker_ready.connect
@heartbeat_sent.connect
def say_alive(sender: Any, **_: Any) -> None:
    """A key that outlives its worker by seconds: how `up` and /readyz know that somebody serves a queue."""
    _redis().set(f"alive:{_name(sender)}", 1, ex=ALIVE_SECONDS)


@beat_init.connect
@after_task_publish.connect(sender=BEAT_ALONE)
def say_that_beat_is_alive(**_: Any) -> None:
    _redis().set("alive:beat", 1, ex=ALIVE_SECONDS)


@worker_ready.connect
def go_round(sender: Any, **_: Any) -> None:
    for look in ROUNDS.get(_name(sender), ()):
        threading.Thread(target=_go_round, args=(look,), name=look, daemon=True).start()


@worker_ready.connect
def take_up(sender: Any, **_: Any) -> None:
    """What the machines worker before this one was doing when it died."""
    if _name(sender) == "machines":
        look = import_string("sandboxes.reaper.take_up")
        threading.Thread(target=look, name="take up", daemon=True).start()


@worker_shutting_down.connect
def let_go(**_: Any) -> None:
    closing.begun.set()


def _go_round(look: str) -> None:
    while True:
        try:
            import_string(look)()
        except Exception:
            log.exception("%s", look)
        close_old_connections()
        time.sleep(ROUND_SECONDS)


def _name(sender: Any) -> str:
    hostname: str = getattr(sender, "hostname", None) or sender.eventer.hostname
    return hostname.partition("@")[0]
