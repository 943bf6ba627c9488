"""What people write beside steps."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from traces.models import Event, Remark

from ..access import maker_or_403, trace_or_404
from .trace import address
from .trace_links import Links, Wanted

LONGEST = 4_000


@require_POST
def add(request: HttpRequest, trace_id: str, seq: int) -> HttpResponse:
    trace = trace_or_404(request.user, trace_id)
    event = Event.objects.filter(trace=trace, seq=seq).first()
    text = request.POST.get("text", "").strip()
    if event is None:
        raise Http404
    author = maker_or_403(request.user)
    if 0 < len(text) <= LONGEST:
        Remark.objects.create(event=event, author=author, text=text.replace("\x00", ""))
    else:
        messages.error(request, f"A note has 1 to {LONGEST} characters; this one has {len(text)}.")
    return redirect(notes(trace.pk, seq))


@require_POST
def delete(request: HttpRequest, trace_id: str, number: int) -> HttpResponse:
    """Only one's own."""
    trace = trace_or_404(request.user, trace_id)
    remark = Remark.objects.filter(pk=number, event__trace=trace, author_id=request.user.pk).first()
    if remark is None:
        raise Http404
    maker_or_403(request.user)
    seq = remark.event.seq
    remark.delete()
    return redirect(notes(trace.pk, seq))


def notes(trace_id: str, seq: int) -> str:
    return Links(address(trace_id), Wanted(step=seq, tab="notes")).page()
