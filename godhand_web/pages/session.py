"""Coming in, by password or by a link that works once, and going out."""

from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView
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


class Login(LoginView):
    template_name = "session/login.html"
    redirect_authenticated_user = True


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
        return redirect(own_page(request, request.GET.get("next", "")))
    return render(request, "session/link.html", {"person": person})


@require_POST
def leave(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("login")
