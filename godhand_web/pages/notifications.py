"""What a person is told while they look elsewhere: by their browser, and by an address of their own."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime
from django.views.decorators.http import require_POST, require_safe

from agents import notify
from agents.errors import AgentError
from agents.models import Branch, Run, State
from agents.standing import Webhook
from agents.webhooks import NotSent

from ..forms import Preferences
from ..models import User
from .preferences import page

AT_MOST = 10
BACK = timedelta(hours=1)


@require_safe
def attention(request: HttpRequest) -> HttpResponse:
    """How many branches of one's own wait for a person, and what is new since a moment."""
    assert isinstance(request.user, User)
    now = timezone.now()
    asking = Branch.objects.filter(run__task__owner=request.user, state=State.NEEDS_HELP)
    since = max(_moment(request.GET.get("since", "")) or now, now - BACK)
    news = [
        *(_of_branch(branch) for branch in asking.filter(state_since__gt=since).select_related("run__task")[:AT_MOST]),
        *(_of_run(run) for run in _ended(request.user, since)[:AT_MOST]),
    ]
    return JsonResponse({"waiting": asking.count(), "news": news, "now": now.isoformat()})


@require_POST
def webhook(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    if "forget" in request.POST:
        notify.forget(request.user)
        messages.success(request, "Nothing is sent any more.")
        return redirect("settings")
    url, told = request.POST.get("url", ""), _told(request)
    try:
        secret = notify.choose(request.user, url, **told)
    except NotSent as error:
        return _typed(request, str(error))
    if secret:
        return page(request, Preferences(), hook_secret=secret)
    messages.success(request, "Saved.")
    return redirect("settings")


@require_POST
def test_webhook(request: HttpRequest) -> HttpResponse:
    """Of the address as it stands in the form, which stays as it was typed."""
    hook = get_object_or_404(Webhook, owner=request.user.pk)
    url = request.POST.get("url", hook.url).strip()
    try:
        answered = f"It answered {notify.test(hook, url)}."
    except AgentError as error:
        if url != hook.url:
            return _typed(request, str(error))
        messages.error(request, str(error))
    else:
        messages.success(request, answered if url == hook.url else f"{answered} The address is not saved yet.")
    saved = "url" not in request.POST or (url, _told(request)) == (hook.url, _told_by(hook))
    return redirect("settings") if saved else _typed(request)


def _told(request: HttpRequest) -> dict[str, bool]:
    return {name: name in request.POST for name in ("on_help", "on_end")}


def _told_by(hook: Webhook) -> dict[str, bool]:
    return {"on_help": hook.on_help, "on_end": hook.on_end}


def _typed(request: HttpRequest, error: str = "") -> HttpResponse:
    """The form as it was sent."""
    sent = {"hook_url": request.POST.get("url", "")[:1000], "hook_told": _told(request), "hook_error": error}
    return page(request, Preferences(), status=400 if error else 200, **sent)


def _ended(person: User, since: datetime) -> Any:
    return Run.objects.filter(task__owner=person, ended_at__gt=since).select_related("task").order_by("-ended_at")


def _of_branch(branch: Branch) -> dict[str, str]:
    told = _news(branch.run, "help", branch.state_since, branch.question or branch.detail)
    return {**told, "key": f"{branch.pk} {told['key']}", "url": notify.page_of(branch)}


def _of_run(run: Run) -> dict[str, str]:
    assert run.ended_at is not None
    return _news(run, "end", run.ended_at, run.get_state_display())


def _news(run: Run, kind: str, at: datetime, text: str) -> dict[str, str]:
    title = run.task.goal.strip().splitlines()[0][:120]
    url = reverse("run", args=[run.task_id, run.pk])
    return {
        "key": f"{run.pk} {kind} {at.timestamp():.0f}",
        "kind": kind,
        "title": title,
        "text": text[:200],
        "url": url,
    }


def _moment(text: str) -> datetime | None:
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return found if found and timezone.is_aware(found) else None
