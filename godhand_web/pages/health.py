"""For whoever supervises the service: is the process there, and can it do its work."""

from collections.abc import Callable

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe
from redis import Redis
from redis.exceptions import RedisError

from sandboxes.errors import NotBuilt
from sandboxes.images import store

from ..cli.services import gate_listens

FIRST_IMAGE = "desktop"
REDIS_PATIENCE = 0.05
WORKERS = ("agents", "machines")

settled: set[str] = set()
"""Needs that stay met for as long as this process lives; reading all migrations takes most of 100 ms."""


def database() -> str | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "does not answer"
    return None


def migrations() -> str | None:
    if "migrations" in settled:
        return None
    try:
        executor = MigrationExecutor(connection)
    except DatabaseError:
        return "unknown, the database does not answer"
    missing = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    if missing:
        return f"{missing} not applied; restart GodHand to apply them"
    settled.add("migrations")
    return None


def redis() -> str | None:
    try:
        with _redis() as client:
            client.ping()
    except (OSError, RedisError):
        return "does not answer"
    return None


def workers() -> str | None:
    silent = _silent(*WORKERS)
    return f"nobody serves {' and '.join(silent)}" if silent else _unknown(silent)


def beat() -> str | None:
    silent = _silent("beat")
    return "does not beat; ./godhand logs beat has the details" if silent else _unknown(silent)


def _silent(*names: str) -> list[str] | None:
    """Those that have said nothing of themselves for a while; None when they cannot be heard."""
    try:
        with _redis() as client:
            return [name for name in names if not client.exists(f"alive:{name}")]
    except (OSError, RedisError):
        return None


def _unknown(silent: list[str] | None) -> str | None:
    return "unknown, Redis does not answer" if silent is None else None


def _redis() -> Redis:
    patience = {"socket_timeout": REDIS_PATIENCE, "socket_connect_timeout": REDIS_PATIENCE}
    return Redis.from_url(settings.REDIS_URL, retry=None, **patience)


def image() -> str | None:
    try:
        store.find(FIRST_IMAGE)
    except NotBuilt as error:
        return str(error)
    return None


def gate() -> str | None:
    return None if gate_listens() else "does not answer; ./godhand logs gate has the details"


NEEDS: tuple[Callable[[], str | None], ...] = (database, migrations, redis, workers, beat, gate, image)


@login_not_required
@require_safe
def alive(request: HttpRequest) -> HttpResponse:
    return JsonResponse({"alive": True})


@login_not_required
@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    troubles = {need.__name__: need() for need in NEEDS}
    well = not any(troubles.values())
    lines = {name: trouble or "ok" for name, trouble in troubles.items()}
    return JsonResponse({"ready": well, **lines}, status=200 if well else 503, json_dumps_params={"indent": 1})
