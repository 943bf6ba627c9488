"""One's own way in: password, passkeys, codes from an app, and where one is logged in."""

from dataclasses import dataclass
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.views import AddWebAuthnView
from allauth.usersessions.models import UserSession
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from .. import sessions
from ..models import User

BROWSERS = (
    ("Edg/", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
    ("curl/", "curl"),
    ("Python", "Python"),
)
SYSTEMS = (
    ("Android", "Android"),
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Windows", "Windows"),
    ("Mac OS", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True)
class Place:
    """A login as it is listed."""

    session: UserSession
    here: bool

    @property
    def name(self) -> str:
        agent = self.session.user_agent
        browser = next((name for sign, name in BROWSERS if sign in agent), "Some program")
        system = next((name for sign, name in SYSTEMS if sign in agent), "")
        return f"{browser} on {system}" if system else browser

    @property
    def is_phone(self) -> bool:
        return any(sign in self.session.user_agent for sign in ("Android", "iPhone"))


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    if request.session.session_key:
        sessions.note(request)
    mine = list(Authenticator.objects.filter(user=request.user).order_by("pk"))
    codes = next((one for one in mine if one.type == Authenticator.Type.RECOVERY_CODES), None)
    context = {
        "passkeys": [one for one in mine if one.type == Authenticator.Type.WEBAUTHN],
        "app": next((one for one in mine if one.type == Authenticator.Type.TOTP), None),
        "codes": codes,
        "codes_left": len(codes.wrap().get_unused_codes()) if codes else 0,
        "has_password": request.user.has_usable_password(),
        "places": places_of(request),
    }
    return render(request, "security/index.html", context)


def places_of(request: HttpRequest) -> list[Place]:
    assert isinstance(request.user, User)
    key = request.session.session_key
    return [Place(session, session.session_key == key) for session in sessions.of(request.user)]


@require_POST
def end(request: HttpRequest, session_id: int) -> HttpResponse:
    """Only one's own. What it has open is turned away as soon as it asks for anything."""
    session = UserSession.objects.filter(pk=session_id, user=request.user.pk).first()
    if session is None:
        raise Http404
    if session.session_key == request.session.session_key:
        return redirect("security")
    session.end()
    messages.success(request, "That browser is logged out.")
    return redirect(f"{reverse('security')}#sessions")


@require_POST
def end_others(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    ended = sessions.end_all(request.user, but=request.session.session_key)
    messages.success(request, f"{ended} other browser{'s are' if ended != 1 else ' is'} logged out.")
    return redirect(f"{reverse('security')}#sessions")


class AddPasskey(AddWebAuthnView):  # type: ignore[misc]
    template_name = "security/passkey.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """allauth's own drops the form that was wrong."""
        return {**super().get_context_data(**kwargs), **kwargs}
