"""How often somebody may try. Without Redis nobody counts, and nothing but luck is lost: a token has 192 bits."""

from functools import cache

from django.conf import settings
from django.http import HttpRequest
from redis import Redis
from redis.exceptions import RedisError

PATIENCE = 0.5


@cache
def _redis() -> Redis:
    return Redis.from_url(settings.REDIS_URL, socket_timeout=PATIENCE, socket_connect_timeout=PATIENCE)


def too_often(request: HttpRequest, what: str, most: int, seconds: int) -> bool:
    """Counts one more try of this address."""
    key = f"tries:{what}:{request.META.get('REMOTE_ADDR', '')}"
    try:
        with _redis().pipeline() as pipe:
            pipe.incr(key)
            pipe.expire(key, seconds, nx=True)
            count, _ = pipe.execute()
    except (OSError, RedisError):
        return False
    return int(count) > most
