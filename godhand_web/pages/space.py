"""How much room a person's traces take, what will go by itself, and the ways to keep and to delete."""

from dataclasses import dataclass

from django.conf import settings
from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.template.defaultfilters import filesizeformat
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agents import removal
from traces import jobs, retention, shares
from traces.models import Job, Trace

from ..access import changeable_trace_or_404, visible_traces
from ..models import User

PER_PAGE = 50
SOON_SHOWN = 100


@dataclass(frozen=True)
class Row:
    trace: Trace
    space: retention.Space


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    mine = visible_traces(request.user).filter(owner=request.user).order_by("-bytes", "-created_at")
    page = Paginator(mine, PER_PAGE).get_page(request.GET.get("page"))
    spaces = retention.spaces(trace.pk for trace in page)
    policy = retention.Policy.of_settings()
    soon = retention.going(policy, request.user)
    context = {
        "page": page,
        "rows": [Row(trace, spaces[trace.pk]) for trace in page],
        "used": retention.used_by(request.user),
        "exports": sum(Job.objects.filter(owner=request.user, state__in=jobs.ENDED).values_list("size", flat=True)),
        "export_days": settings.EXPORT_DAYS,
        "links": shares.of(request.user).count(),
        "policy": policy,
        "soon": soon[:SOON_SHOWN],
        "soon_count": len(soon),
        "soon_bytes": retention.freed_by(each.trace.pk for each in soon),
    }
    return render(request, "space/index.html", context)


@require_POST
def keep(request: HttpRequest, trace_id: str) -> HttpResponse:
    trace = changeable_trace_or_404(request.user, trace_id)
    wanted = request.POST.get("keep") == "yes"
    retention.keep(trace, wanted)
    told = "is kept for good" if wanted else "goes when it gets too old"
    messages.success(request, f"“{trace.title}” {told}.")
    return redirect("space")


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, trace_id: str) -> HttpResponse:
    trace = changeable_trace_or_404(request.user, trace_id)
    if request.method != "POST":
        context = {
            "trace": trace,
            "size": removal.freed_by(trace),
            "links": trace.shares.filter(revoked_at=None).exclude(issued_at=None).count(),
            "running": removal.runs(trace),
        }
        return render(request, "space/delete.html", context)
    try:
        size = removal.delete_trace(trace)
    except removal.StillRunning as error:
        messages.error(request, str(error))
        return redirect("delete_trace", trace.pk)
    messages.success(request, f"“{trace.title}” is deleted; that gives back {filesizeformat(size)}.")
    return redirect("space")
