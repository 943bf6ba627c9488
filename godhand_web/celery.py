import os
from functools import cache
from typing import Any

from celery import Celery
from celery.signals import heartbeat_sent, worker_ready
from django.conf import settings
from redis import Redis

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")

app = Celery("godhand")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

ALIVE_SECONDS = 30


@cache
def _redis() -> Redis:
    return Redis.from_url(settings.REDIS_URL, socket_timeout=2)


@worker_ready.connect
@heartbeat_sent.connect
def say_alive(sender: Any, **_: Any) -> None:
    """A key that outlives its worker by seconds: how `up` and /readyz know that somebody serves a queue."""
    hostname = getattr(sender, "hostname", None) or sender.eventer.hostname
    _redis().set(f"alive:{hostname.partition('@')[0]}", 1, ex=ALIVE_SECONDS)
