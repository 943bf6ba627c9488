"""Coming in, by password, passkey or a link that works once, and going out."""

from typing import Any

from allauth.account.forms import LoginForm
from allauth.account.internal.flows.login import record_authentication
from allauth.account.internal.stagekit import clear_login
from allauth.account.views import LoginView
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.models import Authenticator
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from ..models import LoginLink, User, hashed


def own_page(request: HttpRequest, address: str) -> str:
    """The address when it leads to a page of ours, else the dashboard's."""
    safe = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address if safe else reverse("dashboard")


class NameAndPassword(LoginForm):  # type: ignore[misc]
    def add_prefix(self, field_name: str) -> str:
        return "username" if field_name == "login" else str(super().add_prefix(field_name))


class Login(LoginView):  # type: ignore[misc]
    form_class = NameAndPassword
    template_name = "session/login.html"

    def _redirect_to_pending_stage(self, request: HttpRequest, stage: Any) -> None:
        """Whoever comes back here from the second step begins anew."""
        clear_login(request)

    def get_success_url(self) -> str:
        asked = self.request.POST.get("next") or self.request.GET.get("next", "")
        return own_page(self.request, asked)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        asked = self.request.POST.get("next") or self.request.GET.get("next", "")
        return {**super().get_context_data(**kwargs), "next": asked}


class SecondStep(AuthenticateView):  # type: ignore[misc]
    """After the password: a code from an app, a recovery code, or a passkey."""

    template_name = "session/second_step.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        mine = Authenticator.objects.filter(user=self.stage.login.user).values_list("type", flat=True)
        return {**context, "has_app": "totp" in mine, "has_passkey": "webauthn" in mine}


def holder_of(token: str) -> User | None:
    """Who the link would let in, without using it up."""
    found = LoginLink.objects.filter(token_hash=hashed(token), expires_at__gt=timezone.now(), user__is_active=True)
    link = found.select_related("user").first()
    return link.user if link else None


@login_not_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def link(request: HttpRequest, token: str) -> HttpResponse:
    person = LoginLink.redeem(token) if request.method == "POST" else holder_of(token)
    if person is None:
        return render(request, "session/link_used.html", status=410)
    if request.method == "POST":
        login(request, person, backend="django.contrib.auth.backends.ModelBackend")
        record_authentication(request, person, method="link")
        return redirect(own_page(request, request.GET.get("next", "")))
    return render(request, "session/link.html", {"person": person})


@require_POST
def leave(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("login")
