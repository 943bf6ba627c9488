"""Where each login was last used, for the person whose it is. Noted once a minute: looking must not mean writing."""

from collections.abc import Callable

from allauth.usersessions.models import UserSession
from django.core.cache import cache
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse

from .models import User

EVERY = 60


class LastSeen:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        key = request.session.session_key
        if key and isinstance(request.user, User) and cache.add(f"seen:{key}", True, EVERY):
            note(request)
        return response


def note(request: HttpRequest) -> None:
    try:
        UserSession.objects.create_from_request(request)
    except DatabaseError:
        cache.delete(f"seen:{request.session.session_key}")


def of(person: User) -> list[UserSession]:
    """Those that still let somebody in, the last used first."""
    alive = UserSession.objects.purge_and_list(person)
    return sorted(alive, key=lambda session: session.last_seen_at, reverse=True)


def end_all(person: User, but: str | None = None) -> int:
    ended = [session for session in of(person) if session.session_key != but]
    for session in ended:
        session.end()
    return len(ended)
