"""Run from here: new branches from a step, or from the nearest moment before it at which the machine was saved."""

import secrets
from dataclasses import dataclass

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from agents import api
from agents.budget import Limits
from agents.errors import AgentError
from agents.models import Branch, Run
from agents.plan import Plan
from sandboxes.models import Snapshot
from traces.events import Kind
from traces.models import Event, Trace
from traces.outline import Outline, outline
from traces.queries import Totals, totals
from traces.steps import Step

from ..access import changeable_trace_or_404
from ..models import User
from .branch_form import MOST_EACH, ForkForm
from .branches import NO_RUN, run_of
from .trace_answers import html
from .trace_links import Links, number
from .trace_steps import cards, screen_before


@dataclass(frozen=True)
class Place:
    """The step that was pointed at, with its number on its path; and where a branch from there begins.

    `after` and `after_number` are the last step before that moment.
    """

    trace: Trace
    step: Step
    number: int
    sentence: str
    start: api.Start | None
    after: str
    after_number: int

    @property
    def snapshot(self) -> Snapshot | None:
        return Snapshot.objects.filter(pk=self.start.point.snapshot).first() if self.start else None

    @property
    def picture(self) -> str:
        """What the desktop looked like then."""
        if self.start is None:
            return ""
        seq = Event.objects.values_list("seq", flat=True).get(pk=self.start.point.after)
        seen = screen_before(self.trace.pk, self.start.point.branch, seq)
        return Links(reverse("trace", args=[self.trace.pk])).thumb(seen) if seen else ""


@require_http_methods(["GET", "HEAD", "POST"])
def fork(request: HttpRequest, trace_id: str) -> HttpResponse:
    """`step` is the step to begin after; without one, the end of `branch`."""
    trace = changeable_trace_or_404(request.user, trace_id)
    run = run_of(trace)
    assert isinstance(request.user, User)
    if run is None:
        return html(request, "branches/fork.html", {"trace": trace, "why_not": NO_RUN})
    place = place_of(trace, run, number(request.GET.get("step")), request.GET.get("branch", ""))
    if request.method != "POST":
        form = ForkForm(request.user, initial={"key": secrets.token_urlsafe(12)})
        return page(request, run, place, form)
    form = ForkForm(request.user, request.POST)
    begun = begin(run, place, form) if form.is_valid() else []
    if not begun:
        return page(request, run, place, form, status=400)
    names = " and ".join(f"“{branch.name}”" for branch in begun[:3]) + (" and more" if len(begun) > 3 else "")
    messages.success(request, f"{names} {'begin' if len(begun) > 1 else 'begins'} from there.")
    return redirect(f"{reverse('run', args=[run.task_id, run.pk])}?branch={begun[0].name}")


def begin(run: Run, place: Place, form: ForkForm) -> list[Branch]:
    try:
        return api.branch_from(run, place.step.seq, form.ways, key=form.cleaned_data["key"])
    except AgentError as error:
        form.blame(error)
        return []


def place_of(trace: Trace, run: Run, seq: int | None, branch: str) -> Place:
    """Raises Http404."""
    shape = outline(trace)
    if seq is None:
        found = shape.head(branch) if branch else next(iter(reversed(shape.steps)), None)
    else:
        found = shape.by_seq.get(seq) or next((step for step in shape.steps if step.seq > seq), None)
    if found is None:
        raise Http404
    start = api.start_from(run, found.seq)
    last = last_before(shape, start) if start else found
    told = {card.step.seq: card.step.sentence for card in cards(trace.pk, {found.seq: 0, last.seq: 0})}
    numbers = shape.numbers
    return Place(trace, found, numbers[found.id], told[found.seq], start, told[last.seq], numbers[last.id])


def last_before(shape: Outline, start: api.Start) -> Step:
    """What was done last when the machine was saved."""
    seq = Event.objects.values_list("seq", flat=True).get(pk=start.point.after)
    path = [step for step in shape.path(start.point.branch) if step.seq <= seq]
    return next((step for step in reversed(path) if step.kind != Kind.SNAPSHOT), path[0])


def page(request: HttpRequest, run: Run, place: Place, form: ForkForm, status: int = 200) -> HttpResponse:
    spent: Totals = totals(run.trace_id)
    context = {
        "trace": run.trace,
        "run": run,
        "place": place,
        "form": form,
        "limits": Limits.from_json(run.task.limits),
        "spent": spent,
        "left": max(0, Plan.of(run).budget - run.branches.count()),
        "most": MOST_EACH,
        "model": str(run.task.options.get("model") or run.task.options.get("script") or "")[:60].partition("\n")[0],
        "going": run.branches.filter(state__in=("queued", "provisioning", "running")).count(),
    }
    answer = html(request, "branches/fork.html", context)
    answer.status_code = status
    return answer
