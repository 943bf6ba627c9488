"""After how many days traces and pictures go, for the whole installation. What would go at once is asked first."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from agents import removal
from traces import retention
from traces.retention import Policy

from ..access import admin_or_404
from ..forms import Days, Preferences
from .preferences import page


@dataclass(frozen=True)
class More:
    """What a policy takes with the next sweep that the one in force leaves. `agreed` is what a person says yes to."""

    agreed: str
    traces: int
    pictures: int
    bytes: int


@require_POST
def choose(request: HttpRequest) -> HttpResponse:
    admin_or_404(request.user)
    days = Days(request.POST)
    if not days.is_valid():
        return page(request, Preferences(), status=400, days=days)
    traces, pictures = days.cleaned_data["traces"], days.cleaned_data["pictures"]
    more = more_by(Policy.chosen(traces, pictures))
    if (more.traces or more.pictures) and request.POST.get("agreed") != more.agreed:
        return page(request, Preferences(), status=400, days=days, more=more)
    removal.choose_days(traces, pictures)
    messages.success(request, "Saved. The next sweep goes by it; Space shows what that takes.")
    return redirect(f"{reverse('settings')}#room")


def more_by(policy: Policy) -> More:
    now = {(each.trace.pk, each.what) for each in retention.going(Policy.of_settings())}
    more = [each for each in retention.going(policy) if (each.trace.pk, each.what) not in now]
    return More(
        agreed=f"{policy.traces} {policy.pictures}",
        traces=sum(each.what == "trace" for each in more),
        pictures=sum(each.what == "pictures" for each in more),
        bytes=retention.freed_by(each.trace.pk for each in more),
    )
