"""How the pages look and listen for this browser. Kept in cookies: it is the browser's matter, not the account's."""

from collections.abc import Iterable

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from agents.budget import Limits
from agents.errors import BadTask

from ..context import KEYS_COOKIE, THEME_COOKIE
from ..forms import Preferences
from .session import own_page
from .task_models import models_for

YEAR = 365 * 24 * 3600
LIMITS_COOKIE = "godhand-limits"
LIMITED = ("steps", "minutes", "money")


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
        context = {"form": form, "limits": usual_limits(request), "models": models_for(request.user)}
        return render(request, "settings.html", context, status=400 if request.method == "POST" else 200)
    response = redirect("settings")
    limits = [form.cleaned_data[name] or getattr(Limits(), name) for name in LIMITED]
    remember(response, LIMITS_COOKIE, written(limits), written(getattr(Limits(), name) for name in LIMITED))
    remember(response, THEME_COOKIE, form.cleaned_data["theme"], "system")
    remember(response, KEYS_COOKIE, form.cleaned_data["keys"], "on")
    messages.success(request, "Saved for this browser.")
    return response


def written(limits: Iterable[float]) -> str:
    return " ".join(f"{limit:g}" for limit in limits)


def usual_limits(request: HttpRequest) -> dict[str, str]:
    """What a new task may use up unless its form says otherwise."""
    words = request.COOKIES.get(LIMITS_COOKIE, "").split()
    try:
        chosen = dict(zip(LIMITED, map(float, words), strict=True))
        return {name: f"{getattr(Limits(**chosen), name):g}" for name in LIMITED}  # type: ignore[arg-type]
    except (ValueError, BadTask):
        return {name: f"{getattr(Limits(), name):g}" for name in LIMITED}


@login_not_required
@require_POST
def theme(request: HttpRequest) -> HttpResponse:
    response = redirect(own_page(request, request.POST.get("next", "")))
    chosen = request.POST.get("theme")
    if chosen in {"system", "light", "dark"}:
        remember(response, THEME_COOKIE, chosen, "system")
    return response
