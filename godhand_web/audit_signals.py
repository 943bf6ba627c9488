"""What has no form of its own in the audit log: logins, those that failed, and changes of passwords and keys."""

from typing import Any

from allauth.account.authentication import get_authentication_records
from allauth.account.signals import password_changed, password_set
from allauth.mfa.signals import authentication_failed, authenticator_added, authenticator_removed
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from .audit import Outcome, write
from .models import User

WAYS = {
    "password": "password",
    "link": "link",
    "totp": "code",
    "recovery_codes": "recovery code",
    "webauthn": "passkey",
}
FACTORS = {"totp": "authenticator app", "recovery_codes": "recovery codes", "webauthn": "passkey"}


@receiver(user_logged_in)
def logged_in(request: HttpRequest, user: User, **_: Any) -> None:
    ways = [record.get("type") or record["method"] for record in get_authentication_records(request, user)]
    write("logged in", person=user, request=request, note=", ".join(WAYS.get(way, way) for way in ways) or "link")


@receiver(user_logged_out)
def logged_out(request: HttpRequest, user: User | None, **_: Any) -> None:
    if user is not None:
        write("logged out", person=user, request=request)


@receiver(user_login_failed)
def not_logged_in(credentials: dict[str, Any], request: HttpRequest | None = None, **_: Any) -> None:
    """An unknown name is not kept: people type passwords into the wrong field."""
    person = User.objects.filter(username=str(credentials.get("username") or "")[:150]).first()
    note = "wrong password" if person else "unknown name"
    write("log in", Outcome.REFUSED, person=person, request=request, note=note)


@receiver(authentication_failed)
def second_step_failed(request: HttpRequest, user: User, authenticator: Any, **_: Any) -> None:
    write("log in", Outcome.REFUSED, person=user, request=request, note=f"wrong {WAYS.get(authenticator.type, 'code')}")


@receiver(password_changed)
@receiver(password_set)
def password_is_new(request: HttpRequest, user: User, **_: Any) -> None:
    write("changed the password", person=user, request=request)


@receiver(authenticator_added)
def key_added(request: HttpRequest, user: User, authenticator: Any, **_: Any) -> None:
    write("added a key", person=user, request=request, note=FACTORS.get(authenticator.type, ""))


@receiver(authenticator_removed)
def key_removed(request: HttpRequest, user: User, authenticator: Any, **_: Any) -> None:
    write("removed a key", person=user, request=request, note=FACTORS.get(authenticator.type, ""))
