"""Who did what, to what, from where, and how it ended: every form that somebody sends, and every login.

Nothing of a form's content is kept, and of an address only names and ids: neither can hold a secret.
"""

import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.messages import constants as levels
from django.db import DatabaseError, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, ResolverMatch, resolve
from django.utils import timezone

from .models import AuditEntry, User

log = logging.getLogger(__name__)
Outcome = AuditEntry.Outcome

SAFE = ("GET", "HEAD", "OPTIONS", "TRACE")
QUIET = {"theme", "ticket", "run_ticket"}
"""Forms that change nothing worth telling."""

LOGINS = {"login", "account_login", "login_link", "logout", "mfa_authenticate", "mfa_login_webauthn"}
KEYS = {"account_change_password", "account_set_password", "mfa_activate_totp", "mfa_deactivate_totp"}
TOLD = LOGINS | KEYS | {"mfa_add_webauthn", "mfa_remove_webauthn"}
"""Forms whose effect is told by `audit_signals`."""

ASKED = {"account_reauthenticate", "mfa_reauthenticate", "mfa_reauthenticate_webauthn"}
ASKS_AGAIN = ("account_", "mfa_")
"""Forms of allauth's, which answer 200 when they refuse."""
SAID = ("verb", "kind")
TRIM_EVERY = 500


def write(
    what: str,
    outcome: Outcome = Outcome.DONE,
    *,
    person: User | None = None,
    request: HttpRequest | None = None,
    thing: tuple[str, str] = ("", ""),
    note: str = "",
) -> None:
    """What happened is not undone because it could not be told."""
    try:
        with transaction.atomic():
            entry = AuditEntry.objects.create(
                person=person,
                name=person.get_username() if person else "",
                what=what[:60],
                kind=thing[0][:30],
                thing=thing[1][:80],
                note=note[:200],
                address=(request.META.get("REMOTE_ADDR") or None) if request else None,
                outcome=outcome,
            )
    except DatabaseError:
        log.exception("not in the audit log: %s %s %s", person, what, thing)
        return
    if settings.AUDIT_DAYS and entry.pk % TRIM_EVERY == 0:
        AuditEntry.objects.filter(at__lt=timezone.now() - timedelta(days=settings.AUDIT_DAYS)).delete()


class Trail:
    """Stands inside the middleware of messages, to see whether the answer is a refusal in words."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        match = request.resolver_match
        if request.method not in SAFE and match is not None and isinstance(request.user, User):
            self.tell(request, match, response)
        return response

    def tell(self, request: HttpRequest, match: ResolverMatch, response: HttpResponse) -> None:
        name, led_to = match.url_name or "", _led_to(response)
        again = name.startswith(ASKS_AGAIN) and response.status_code == 200
        quiet = match.kwargs.get("verb") == "beat" or (led_to is not None and led_to.url_name in ASKED)
        if quiet or (name in QUIET | TOLD | ASKED and not again):
            return
        about = getattr(request, "about", None) or thing_of(match.kwargs) or thing_of(led_to.kwargs if led_to else {})
        note = " ".join(str(match.kwargs[said]) for said in SAID if said in match.kwargs)
        assert isinstance(request.user, User)
        outcome = Outcome.REFUSED if again else outcome_of(request, response)
        write(name, outcome, person=request.user, request=request, thing=about or ("", ""), note=note)


def about(request: HttpRequest, kind: str, number: str) -> None:
    """What a form was about whose address does not say it."""
    request.about = kind, number  # type: ignore[attr-defined]


def thing_of(kwargs: Mapping[str, Any]) -> tuple[str, str] | None:
    """The last id in the address names it the most exactly. Tokens are no ids."""
    found = [(name.removesuffix("_id"), str(value)) for name, value in kwargs.items() if name.endswith("_id")]
    return found[-1] if found else None


def outcome_of(request: HttpRequest, response: HttpResponse) -> Outcome:
    if response.status_code >= 500:
        return Outcome.FAILED
    queued = getattr(getattr(request, "_messages", None), "_queued_messages", ())
    in_words = any(message.level >= levels.ERROR for message in queued)
    return Outcome.REFUSED if response.status_code >= 400 or in_words else Outcome.DONE


def _led_to(response: HttpResponse) -> ResolverMatch | None:
    if not 300 <= response.status_code < 400:
        return None
    try:
        return resolve(urlsplit(response.headers.get("Location", "")).path)
    except Resolver404:
        return None
