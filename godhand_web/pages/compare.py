"""Two branches of a trace, or two traces, step by step."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.views.decorators.http import require_safe

from traces.compare import LONGEST, Comparison, compare

from ..access import trace_or_404
from . import trace_answers as answers
from .aligned import rows_html
from .beside import WORDS, Line, Side, lines, panes, totals
from .heads import Head, groups, pair

VIEWS = ("side", "slider", "blink")
MOMENTS = ("after", "before")
SHARED_SHOWN = 100


@require_safe
def show(request: HttpRequest, trace_id: str) -> HttpResponse:
    """`a` and `b` name branches, `row` is the one to look at. Opens where the paths part."""
    trace = trace_or_404(request.user, trace_id)
    a, b = pair(request.user, trace, request.GET.get("a", ""), request.GET.get("b", ""))
    chosen = [head for head in (a, b) if head]
    context: dict[str, Any] = {
        "trace": trace,
        "groups": groups(request.user, trace, chosen),
        "a": a and a.spec(trace),
        "b": b and b.spec(trace),
    }
    if a and b:
        query = _query(request.GET, a=a.spec(trace), b=b.spec(trace))
        context |= {"query": query, **_beside(request.GET, a, b, query)}
    return answers.html(request, "traces/compare.html", context)


def _beside(asked: QueryDict, a: Head, b: Head, query: str) -> dict[str, Any]:
    sides = Side(a), Side(b)
    comparison = compare(sides[0].path(), sides[1].path())
    shown = lines(comparison, *sides)
    at = _row(asked, comparison, shown)
    moment = next((moment for moment in MOMENTS if moment == asked.get("moment")), MOMENTS[0])
    return {
        "sides": sides,
        "totals": totals(sides[0].sums, sides[1].sums),
        "comparison": comparison,
        "counts": [(word, comparison.count(kin)) for kin, word in WORDS.items()],
        "shared": comparison.shared[-SHARED_SHOWN:],
        "shared_skipped": max(0, len(comparison.shared) - SHARED_SHOWN),
        "rows": rows_html(shown, query, at),
        "first": shown[0].number if shown else 0,
        "last": shown[-1].number if shown else 0,
        "row": at,
        "divergence": None if comparison.first_divergence is None else comparison.first_divergence + 1,
        "panes": panes(*sides, [line for line in shown if line.number <= at], moment),
        "moment": moment,
        "view": next((view for view in VIEWS if view == asked.get("view")), VIEWS[0]),
        "longest": LONGEST,
    }


def _row(asked: QueryDict, comparison: Comparison, shown: list[Line]) -> int:
    numbers = [line.number for line in shown]
    wanted = asked.get("row", "")
    if wanted.isdecimal() and int(wanted[:9]) in numbers:
        return int(wanted[:9])
    parted = comparison.first_divergence
    return parted + 1 if parted is not None else max(numbers, default=0)


def _query(asked: QueryDict, **known: str) -> str:
    """What a link to another row repeats."""
    kept = QueryDict(mutable=True)
    kept.update(known)
    kept.update({name: asked.get(name, "") for name in ("view", "moment") if name in asked})
    return kept.urlencode()
