"""All branches of a run beside each other: why one of them counts, and what one can do with each."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from agents import api
from agents.errors import AgentError
from agents.models import Branch, Run
from traces.models import Trace

from ..access import Person, changeable_trace_or_404, may_change_trace, trace_or_404
from .branch_heads import branch_heads
from .trace_answers import html
from .trace_branches import is_live
from .trace_links import Links

NO_RUN = "This trace was brought in from outside: there is no run here that could be branched."


def run_of(trace: Trace) -> Run | None:
    return Run.objects.filter(trace=trace).select_related("task", "trace", "chosen", "chosen_by").first()


def fork_address(person: Person, trace: Trace) -> str:
    """Where branches of it are begun; empty when nobody can, or this person may not."""
    if not may_change_trace(person, trace) or not Run.objects.filter(trace=trace).exists():
        return ""
    return reverse("fork_trace", args=[trace.pk])


def branch_or_404(run: Run | None, name: str) -> Branch:
    found = run.branches.select_related("machine").filter(name=name).first() if run else None
    if run is None or found is None:
        raise Http404
    found.run = run
    return found


@require_safe
def index(request: HttpRequest, trace_id: str) -> HttpResponse:
    trace = trace_or_404(request.user, trace_id)
    run = run_of(trace)
    links = Links(reverse("trace", args=[trace.pk]))
    context: dict[str, Any] = {
        "trace": trace,
        "run": run,
        "links": links,
        "heads": branch_heads(run, links, request.user) if run else [],
        "may_change": may_change_trace(request.user, trace),
        "live": is_live(trace),
        "no_run": NO_RUN,
    }
    return html(request, "branches/index.html", context)


@require_POST
def pick(request: HttpRequest, trace_id: str) -> HttpResponse:
    trace = changeable_trace_or_404(request.user, trace_id)
    run = run_of(trace)
    if run is None:
        messages.error(request, NO_RUN)
        return redirect("branches", trace.pk)
    branch = branch_or_404(run, request.POST.get("branch", ""))
    try:
        api.pick(run, branch, request.user)
        messages.success(request, f"“{branch.name}” is the one that counts now.")
    except AgentError as error:
        messages.error(request, str(error))
    return redirect("branches", trace.pk)
