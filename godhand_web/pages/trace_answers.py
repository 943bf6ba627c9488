"""What the page of a trace asks for while one looks at it. Whoever calls has made sure that the visitor may see it."""

from dataclasses import dataclass
from typing import Any, ClassVar

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.template.loader import render_to_string

from traces.models import Event, Trace
from traces.outline import outline, steps_only
from traces.queries import changes_after
from traces.search import search

from .trace_branches import is_live
from .trace_details import Details
from .trace_links import TABS, Links, Wanted, number
from .trace_rows import run_view
from .trace_steps import cards, path_data, times
from .trace_view import TraceView

MOST_STEPS = 100
MOST_CHANGES = 200
MOST_HITS = 5_000


@dataclass(frozen=True)
class DetailView:
    """As much of a TraceView as the tabs of one step need."""

    trace: Trace
    links: Links
    details: Details
    remarks: bool = False
    fork: str = ""
    tabs: ClassVar[tuple[str, ...]] = TABS

    @property
    def wanted(self) -> Wanted:
        return self.links.wanted


def html(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Half of a surrogate pair, which a model may well have said, must not break the page."""
    return HttpResponse(render_to_string(template, context, request).encode("utf-8", "replace"))


def path(request: HttpRequest, trace: Trace) -> HttpResponse:
    shape = outline(trace)
    steps = shape.path(request.GET.get("branch", ""))
    if not steps:
        raise Http404
    return JsonResponse({"at": times(trace.pk, steps)} if "times" in request.GET else path_data(steps, shape))


def steps(request: HttpRequest, trace: Trace) -> HttpResponse:
    """Those with the given seqs, which follow each other on a path; `first` is the number of the first."""
    first = number(request.GET.get("first")) or 1
    seqs = [seq for text in request.GET.get("seqs", "").split(",") if (seq := number(text)) is not None]
    numbers = {seq: place for place, seq in enumerate(sorted(seqs)[:MOST_STEPS], first)}
    return JsonResponse({"steps": [card.as_json() for card in cards(trace.pk, numbers)]})


def details(
    request: HttpRequest, trace: Trace, seq: int, *, base: str, remarks: bool = False, fork: str = ""
) -> HttpResponse:
    found = cards(trace.pk, {seq: 0})
    if not found:
        raise Http404
    wanted = Wanted.read(with_step(request.GET, seq))
    view = DetailView(trace, Links(base, wanted), Details(trace.pk, found[0]), remarks, fork)
    return html(request, "traces/_detail.html", {"view": view})


def with_step(query: QueryDict, seq: int) -> QueryDict:
    changed = query.copy()
    changed["step"] = str(seq)
    return changed


def tree(request: HttpRequest, trace: Trace, *, base: str, fork: str = "") -> HttpResponse:
    """The rows around the current step, or only those of the run that is opened."""
    view = TraceView(trace, Links(base, Wanted.read(request.GET)), fork=fork)
    if view.wanted.opened and "run" in request.GET:
        run = run_view(trace.pk, view.outline, view.branches, view.wanted)
        return html(request, "traces/_rows.html", {"view": view, "tree": run, "run": request.GET["open"]})
    return html(request, "traces/_tree.html", {"view": view})


def changes(request: HttpRequest, trace: Trace) -> HttpResponse:
    """What was added or moved on after the revision `after`."""
    events = changes_after(trace.pk, number(request.GET.get("after")) or 0, MOST_CHANGES)
    seqs = [event.seq for event in events]
    shown = steps_only(Event.objects.filter(trace=trace.pk, seq__in=seqs)).values_list("seq", flat=True)
    branches = Event.objects.filter(trace=trace.pk).order_by().values("branch").distinct()
    answer = {
        "revision": events[-1].revision if events else trace.revision,
        "more": len(events) == MOST_CHANGES,
        "live": is_live(trace),
        "steps": [card.as_json() for card in cards(trace.pk, dict.fromkeys(shown, 0))],
        "totals": render_to_string("traces/_totals.html", {"trace": trace, "branches": branches}, request),
    }
    return JsonResponse(answer)


def hits(request: HttpRequest, trace: Trace) -> HttpResponse:
    found = search(trace.pk, request.GET.get("q", "").strip()[:200], MOST_HITS)
    rows = Event.objects.filter(trace=trace.pk, pk__in=found.hits).order_by("seq").values_list("seq", "branch")
    return JsonResponse({"count": found.count, "problem": found.problem, "hits": list(rows)})
