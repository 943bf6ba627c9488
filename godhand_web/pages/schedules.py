"""Schedules: which tasks recur, when next, what became of the last times, and the ways to change that."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

from django import forms
from django.contrib import messages
from django.db.models import OuterRef, Prefetch, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agents import schedules
from agents.api import MOST_RUNS
from agents.errors import BadTask
from agents.standing import Firing, Schedule
from agents.timing import say
from agents.timing.rule import LONGEST

from ..access import changeable_schedule_or_404, may_change_schedule, schedule_or_404, visible_schedules
from .schedule_preview import EXAMPLES, Moment, moments_of, preview_of
from .task import facts
from .task_files import given
from .trace_answers import html

FIRINGS_SHOWN = 50
LAST_SHOWN = 8
Outcome = Firing.Outcome


class Timing(forms.Form):
    name = forms.CharField(max_length=80, error_messages={"required": "Give it a name."})
    when = forms.CharField(max_length=LONGEST, strip=False, required=False)
    zone = forms.CharField(max_length=60, required=False)
    runs = forms.IntegerField(min_value=1, max_value=MOST_RUNS)
    catch_up = forms.BooleanField(required=False)

    def save(self, schedule: Schedule) -> bool:
        if not self.is_valid():
            return False
        data = self.cleaned_data
        more = {"name": data["name"], "runs": data["runs"], "catch_up": data["catch_up"]}
        try:
            schedules.change(schedule, data["when"], data["zone"], **more)
        except BadTask as error:
            field, _, told = str(error).partition(": ")
            self.add_error("zone" if field == "zone" else "when", told[:1].upper() + told[1:])
            return False
        return True


@dataclass(frozen=True)
class Row:
    """`said` is the rule in words, `next` its next moment, `last` what became of the newest ones, oldest first."""

    schedule: Schedule
    said: str
    next: Moment | None
    last: list[Firing]

    @property
    def trouble(self) -> Firing | None:
        """Of the newest, when it did not start anything."""
        newest = self.last[-1] if self.last else None
        quiet = (Outcome.STARTED, Outcome.BY_HAND, Outcome.CAUGHT_UP)
        return newest if newest and newest.outcome not in quiet else None


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    newest = Firing.objects.filter(schedule=OuterRef("schedule")).order_by("-pk").values("pk")[:LAST_SHOWN]
    recent = Firing.objects.filter(pk__in=Subquery(newest)).select_related("run").order_by("pk")
    rows = visible_schedules(request.user).prefetch_related(Prefetch("firings", recent, to_attr="recent"))
    context = {"rows": [_row(schedule) for schedule in rows], "examples": EXAMPLES}
    return html(request, "schedules/index.html", context)


def _row(schedule: Schedule) -> Row:
    try:
        rule = schedules.rule_of(schedule)
    except BadTask as error:
        return Row(schedule, str(error), None, schedule.recent)  # type: ignore[attr-defined]
    coming = Moment.of(schedule.next_at, rule) if schedule.next_at else None
    return Row(schedule, say(rule), coming, schedule.recent)  # type: ignore[attr-defined]


@require_http_methods(["GET", "HEAD", "POST"])
def show(request: HttpRequest, schedule_id: str) -> HttpResponse:
    schedule = schedule_or_404(request.user, schedule_id)
    form = Timing(initial={**vars(schedule), "when": schedule.wording})
    if request.method == "POST":
        schedule = changeable_schedule_or_404(request.user, schedule_id)
        form = Timing(request.POST)
        if form.save(schedule):
            messages.success(request, "Saved. It counts from the next time on.")
            return redirect("schedule", schedule.pk)
    context = {
        "schedule": schedule,
        "form": form,
        "preview": preview_of(form["when"].value(), form["zone"].value()) if form.is_bound else None,
        "coming": _coming(schedule),
        "going": schedules.going(schedule),
        "firings": schedule.firings.select_related("run")[:FIRINGS_SHOWN],
        "may_change": may_change_schedule(request.user, schedule),
        "task": schedule.task,
        "files": given(schedule.task),
        "facts": facts(schedule.task),
        "examples": EXAMPLES,
    }
    response = html(request, "schedules/schedule.html", context)
    response.status_code = 400 if form.is_bound else 200
    return response


def _coming(schedule: Schedule) -> tuple[str, tuple[Moment, ...]]:
    try:
        rule = schedules.rule_of(schedule)
    except BadTask as error:
        return str(error), ()
    return say(rule), moments_of(rule) if schedule.active else ()


@require_safe
def preview(request: HttpRequest) -> HttpResponse:
    """A part of a page, for whoever is typing."""
    found = preview_of(request.GET.get("when", ""), request.GET.get("zone", ""))
    return render(request, "schedules/_preview.html", {"preview": found})


def _verb(act: Callable[[HttpRequest, Schedule], None]) -> Callable[[HttpRequest, str], HttpResponse]:
    """Something done to a schedule, and back to its page; what is refused is said there."""

    @require_POST
    @wraps(act)
    def view(request: HttpRequest, schedule_id: str) -> HttpResponse:
        schedule = changeable_schedule_or_404(request.user, schedule_id)
        try:
            act(request, schedule)
        except BadTask as error:
            messages.error(request, str(error))
        here = Schedule.objects.filter(pk=schedule.pk).exists()
        return redirect("schedule", schedule.pk) if here else redirect("schedules")

    return view


@_verb
def pause(request: HttpRequest, schedule: Schedule) -> None:
    schedules.pause(schedule)
    messages.success(request, "Paused. Nothing runs until you resume it.")


@_verb
def resume(request: HttpRequest, schedule: Schedule) -> None:
    schedules.resume(schedule)
    messages.success(request, "It runs again, from its next time on.")


@_verb
def run(request: HttpRequest, schedule: Schedule) -> None:
    fired = schedules.run_now(schedule)
    if fired.outcome == Outcome.BY_HAND:
        messages.success(request, "Started.")
    else:
        messages.error(request, f"Not started. {fired.detail}")


@_verb
def delete(request: HttpRequest, schedule: Schedule) -> None:
    schedules.delete(schedule)
    messages.success(request, f"“{schedule.name}” is deleted. Its runs and their traces stay.")
