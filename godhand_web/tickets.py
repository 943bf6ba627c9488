"""Tickets for the gate: handed out here, where access is decided, and redeemed there."""

from functools import cache

from django.conf import settings
from redis import Redis

from sandboxes.gate import tickets

from .access import Role


@cache
def _redis() -> Redis:
    return Redis.from_url(settings.REDIS_URL, socket_timeout=5)


def issue(machine_id: str, user_id: int, role: Role) -> str:
    return tickets.issue(_redis(), machine_id, str(user_id), role)
