"""The gate's process: VNC bytes between browsers and machines. Whoever comes is asked about in access.py again."""

import os
import sys
from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import django
from django.conf import settings
from django.db import DatabaseError, connections

from sandboxes.errors import Unavailable
from sandboxes.gate.server import Target, serve
from sandboxes.gate.tickets import Ticket

if TYPE_CHECKING:
    from .models import User


def authorize(ticket: Ticket, cookies: Mapping[str, str]) -> Target | None:
    """A ticket alone opens nothing: its bearer must be the logged-in person it was made for, and still allowed."""
    try:
        return _target(ticket, cookies)
    finally:
        # This process goes on for as long as somebody watches.
        connections.close_all()


def _target(ticket: Ticket, cookies: Mapping[str, str]) -> Target | None:
    from sandboxes import lease, lifecycle
    from sandboxes.models import Machine, State

    machine = Machine.objects.filter(pk=ticket.sandbox_id, state=State.READY).first()
    person = _bearer(ticket, cookies)
    if person is None or machine is None:
        return None
    endpoint = lifecycle.attach(machine).endpoint()
    guard = partial(lease.fence_of(machine.pk).passing, lease.holder_of(person)) if ticket.role == "drive" else None
    return Target(endpoint.host, endpoint.vnc_port, guard, partial(still_allowed, ticket, cookies))


def still_allowed(ticket: Ticket, cookies: Mapping[str, str]) -> bool:
    """A database that does not answer sends nobody away."""
    try:
        return _bearer(ticket, cookies) is not None
    except DatabaseError:
        return True
    finally:
        connections.close_all()


def _bearer(ticket: Ticket, cookies: Mapping[str, str]) -> "User | None":
    """The logged-in person it was made for, as long as they may do there what it says."""
    from sandboxes.models import Machine

    from .access import role_on

    person = session_user(cookies.get(settings.SESSION_COOKIE_NAME, ""))
    machine = Machine.objects.filter(pk=ticket.sandbox_id).first()
    if person is None or machine is None or str(person.pk) != ticket.user_id:
        return None
    return person if role_on(person, machine) in {"drive", ticket.role} else None


def session_user(session_key: str) -> "User | None":
    from django.contrib.auth import SESSION_KEY, get_user
    from django.http import HttpRequest

    from .models import User

    if not session_key:
        return None
    request = HttpRequest()
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(session_key)
    if SESSION_KEY not in request.session:
        return None
    user = get_user(request)
    return user if isinstance(user, User) else None


def origin_allowed(origin: str) -> bool:
    """Pages of this installation, under any name it may be called by."""
    from django.http.request import validate_host

    try:
        address, asked_port = urlsplit(origin), urlsplit(origin).port
    except ValueError:
        return False
    if address.scheme not in {"http", "https"} or address.hostname is None:
        return False
    port = asked_port or {"http": 80, "https": 443}[address.scheme]
    own_port = urlsplit(settings.PUBLIC_URL).port or {"http": 80, "https": 443}[urlsplit(settings.PUBLIC_URL).scheme]
    host = f"[{address.hostname}]" if ":" in address.hostname else address.hostname
    return port in {settings.PORT, own_port} and validate_host(host, settings.ALLOWED_HOSTS)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
    django.setup()
    try:
        serve(
            settings.BIND,
            settings.GATE_PORT,
            settings.REDIS_URL,
            allowed_origins=origin_allowed,
            authorize=authorize,
            most_connections=settings.GATE_CONNECTIONS,
        )
    except Unavailable as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
