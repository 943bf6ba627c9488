"""How the pages look and listen for this browser. Kept in cookies: it is the browser's matter, not the account's."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from ..context import KEYS_COOKIE, THEME_COOKIE
from ..forms import Preferences
from .session import own_page

YEAR = 365 * 24 * 3600


def remember(response: HttpResponse, cookie: str, value: str, default: str) -> None:
    if value == default:
        response.delete_cookie(cookie, samesite="Lax")
    else:
        secure = bool(settings.SESSION_COOKIE_SECURE)
        response.set_cookie(cookie, value, max_age=YEAR, samesite="Lax", httponly=True, secure=secure)


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest) -> HttpResponse:
    form = Preferences(request.POST)
    if request.method != "POST" or not form.is_valid():
        return render(request, "settings.html", status=400 if request.method == "POST" else 200)
    response = redirect("settings")
    remember(response, THEME_COOKIE, form.cleaned_data["theme"], "system")
    remember(response, KEYS_COOKIE, form.cleaned_data["keys"], "on")
    messages.success(request, "Saved for this browser.")
    return response


@login_not_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    response = redirect(own_page(request, request.POST.get("next", "")))
    chosen = request.POST.get("theme")
    if chosen in {"system", "light", "dark"}:
        remember(response, THEME_COOKIE, chosen, "system")
    return response
