"""How the pages look and listen for this browser. Kept in cookies: it is the browser's matter, not the account's."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from agents import model_keys, removal
from agents.budget import Limits
from agents.errors import BadTask
from agents.standing import Webhook
from traces.retention import Policy

from ..access import is_admin, may_create
from ..context import DENSITY_COOKIE, KEYS_COOKIE, MOTION_COOKIE, NOTIFY_COOKIE, THEME_COOKIE
from ..forms import Days, Preferences
from ..models import User
from .about import about
from .home_needs import needs
from .keyboard import GROUPS
from .session import own_page
from .task_models import models_for

YEAR = 365 * 24 * 3600
LIMITS_COOKIE = "godhand-limits"
LIMITED = ("steps", "minutes", "money")
NOTICES_SHOWN = 5


def remember(response: HttpResponse, cookie: str, value: str, default: str) -> None:
    if value == default:
        response.delete_cookie(cookie, samesite="Lax")
    else:
        secure = bool(settings.SESSION_COOKIE_SECURE)
        response.set_cookie(cookie, value, max_age=YEAR, samesite="Lax", httponly=True, secure=secure)


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return page(request, Preferences())
    form = Preferences(request.POST)
    if not form.is_valid():
        return page(request, form, status=400)
    response = redirect("settings")
    limits = [form.cleaned_data[name] or getattr(Limits(), name) for name in LIMITED]
    remember(response, LIMITS_COOKIE, written(limits), written(getattr(Limits(), name) for name in LIMITED))
    remember(response, THEME_COOKIE, form.cleaned_data["theme"], "system")
    remember(response, KEYS_COOKIE, form.cleaned_data["keys"], "on")
    remember(response, DENSITY_COOKIE, form.cleaned_data["density"] or "comfortable", "comfortable")
    remember(response, MOTION_COOKIE, form.cleaned_data["motion"] or "system", "system")
    told = [name for name in ("help", "end") if form.cleaned_data[f"notify_{name}"]]
    remember(response, NOTIFY_COOKIE, " ".join(told), "")
    messages.success(request, "Saved for this browser.")
    return response


def page(request: HttpRequest, form: Preferences, *, status: int = 200, **more: Any) -> HttpResponse:
    """All of the settings. `more` is what another form on it has to say."""
    assert isinstance(request.user, User)
    sent = form.data if form.is_bound else None
    models = models_for(request.user)
    context = {
        "form": form,
        "limits": {name: sent.get(name, "") for name in LIMITED} if sent else usual_limits(request),
        "models": models,
        "may_set_keys": is_admin(request.user),
        "may_ask": may_create(request.user),
        "kept_keys": model_keys.stored(),
        "set_keys": {name for name in model_keys.names() if model_keys.from_environment(name)},
        **_hook_of(request.user),
        "policy": Policy.of_settings(),
        "days": Days(initial=dict(zip(("traces", "pictures"), removal.chosen_days(), strict=True))),
        "installed_days": (settings.TRACE_DAYS, settings.PICTURE_DAYS),
        "export_days": settings.EXPORT_DAYS,
        "key_groups": GROUPS.values(),
        "needs": needs(models) if is_admin(request.user) else (),
        "about": about(),
    }
    return render(request, "settings.html", {**context, **more}, status=status)


def _hook_of(person: User) -> dict[str, Any]:
    hook = Webhook.objects.filter(owner=person).first()
    return {
        "hook": hook,
        "hook_url": hook.url if hook else "",
        "hook_told": {"on_help": hook.on_help if hook else True, "on_end": hook.on_end if hook else True},
        "notices": hook.notices.all()[:NOTICES_SHOWN] if hook else (),
    }


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
