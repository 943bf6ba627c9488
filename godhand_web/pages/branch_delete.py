"""The end of one branch: what goes, how much room that gives back, or who still needs it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.defaultfilters import filesizeformat
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from agents import api, pruning

from ..access import changeable_trace_or_404
from .branch_heads import branch_heads
from .branches import NO_RUN, branch_or_404, run_of
from .trace_answers import html
from .trace_links import Links


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, trace_id: str) -> HttpResponse:
    """`branch` is its name."""
    trace = changeable_trace_or_404(request.user, trace_id)
    run = run_of(trace)
    if run is None:
        messages.error(request, NO_RUN)
        return redirect("branches", trace.pk)
    branch = branch_or_404(run, request.GET.get("branch", ""))
    if request.method == "POST":
        try:
            space = api.delete_branch(branch)
            messages.success(request, f"“{branch.name}” is deleted; that gives back {filesizeformat(space.total)}.")
        except pruning.Needed as error:
            messages.error(request, str(error))
        return redirect("branches", trace.pk)
    heads = branch_heads(run, Links(reverse("trace", args=[trace.pk])), request.user)
    context = {
        "trace": trace,
        "run": run,
        "head": next(head for head in heads if head.branch.pk == branch.pk),
        "reason": pruning.why_not(branch),
        "space": api.space_of(branch),
    }
    return html(request, "branches/delete.html", context)
