"""A ticket opens one connection to one machine, once, within half a minute. Redis never sees the ticket itself."""

import hashlib
import json
import secrets
from dataclasses import asdict, dataclass
from typing import cast

from redis import Redis

from ..display.filter import Role

SECONDS = 30


@dataclass(frozen=True)
class Ticket:
    sandbox_id: str
    user_id: str
    role: Role


def issue(redis: Redis, sandbox_id: str, user_id: str, role: Role) -> str:
    secret = secrets.token_urlsafe(32)
    redis.set(_key(secret), json.dumps(asdict(Ticket(sandbox_id, user_id, role))), ex=SECONDS)
    return secret


def redeem(redis: Redis, secret: str) -> Ticket | None:
    """None for a ticket that never was, was used before, or is too old."""
    stored = cast("bytes | None", redis.getdel(_key(secret)))
    return Ticket(**json.loads(stored)) if stored else None


def _key(secret: str) -> str:
    return "gate:ticket:" + hashlib.sha256(secret.encode()).hexdigest()
