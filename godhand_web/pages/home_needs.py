"""What an installation needs to run tasks, as far as the process of the pages can tell; each with its fix."""

from collections.abc import Iterator

from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError

from ..cli import doctor
from ..cli.doctor import Finding
from . import health
from .task_models import Model

WORKERS = {"machines": "make machines", "agents": "drive desktops"}


def needs(models: list[Model]) -> list[Finding]:
    """With the models as one person can use them."""
    return [*_services(), doctor.runsc(), doctor.image(), doctor.disk(), doctor.ffmpeg(), _model_key(models)]


def _model_key(models: list[Model]) -> Finding:
    """Here a key that was typed into the settings counts, too."""
    found = [model.label for model in models if model.key_env and not model.trouble]
    text = f"there for {', '.join(found)}" if found else "none: type one into the settings; demos need none"
    return Finding("model key", bool(found), text, needed=False)


def _services() -> Iterator[Finding]:
    trouble = health.redis()
    yield Finding("redis", not trouble, "answers" if not trouble else "does not answer: ./godhand logs redis says why")
    if not trouble:
        alive = _alive()
        for name, purpose in WORKERS.items():
            text = f"are there to {purpose}" if name in alive else f"are not there: ./godhand logs {name} says why"
            yield Finding(f"{name.removesuffix('s')} workers", name in alive, text)


def _alive() -> set[str]:
    try:
        with Redis.from_url(settings.REDIS_URL, socket_timeout=health.REDIS_PATIENCE, retry=None) as client:
            return {name for name in WORKERS if client.exists(f"alive:{name}")}
    except (OSError, RedisError):
        return set()
