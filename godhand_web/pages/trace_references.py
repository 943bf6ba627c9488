"""A screen that a check was shown becomes the picture that it compares with."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from agents.api import accept_reference
from agents.errors import BadTask
from traces.errors import Damaged
from traces.models import Event
from traces.outline import number_of

from ..access import changeable_trace_or_404
from .branches import run_of
from .trace import address
from .trace_links import Links

KIND = "screen_region"
NONE = "At this step no check of the task has compared the screen with a reference picture."


@require_POST
def accept(request: HttpRequest, trace_id: str, seq: int) -> HttpResponse:
    trace = changeable_trace_or_404(request.user, trace_id)
    run, check = run_of(trace), request.POST.get("check", "")
    event = Event.objects.filter(trace=trace, seq=seq, kind="verify").first()
    looked = {finding["name"] for finding in event.data["findings"] if finding["type"] == KIND} if event else set()
    tables = {table["name"]: table for table in run.task.checks if table["kind"] == KIND} if run else {}
    if run and event and check in looked & tables.keys():
        name = str(tables[check]["reference"])
        try:
            accept_reference(run.task, event, name)
            number = number_of(trace.pk, event.branch, seq)
            messages.success(
                request, f"The screen at step {number} is the reference “{name}” of this task from now on."
            )
        except (BadTask, Damaged) as error:
            messages.error(request, str(error))
    else:
        messages.error(request, NONE)
    return redirect(Links(address(trace.pk)).step(seq))
