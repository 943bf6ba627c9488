"""All traces that exist for a person."""

from django.core.paginator import Paginator
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from traces.models import Event, Trace

from ..access import may_create, visible_traces
from . import trace_answers as answers
from .trace_links import elsewhere

PER_PAGE = 50


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    visible = visible_traces(request.user)
    search = request.GET.get("q", "").strip()[:200]
    found = visible.filter(title__icontains=search) if search else visible
    counted = dict(found.order_by().values_list("state").annotate(Count("pk")))
    chosen = request.GET.get("state") if request.GET.get("state") in counted else None
    wanted = found.filter(state=chosen) if chosen is not None else found
    context = {
        "page": Paginator(with_pictures(wanted), PER_PAGE).get_page(request.GET.get("page")),
        "search": search,
        "chosen": chosen,
        "filters": sorted(counted.items()),
        "any": bool(counted) or visible.exists(),
        "importing": elsewhere("import_trace") if may_create(request.user) else "",
        "starting": elsewhere("new_task") if may_create(request.user) else "",
    }
    return answers.html(request, "traces/index.html", context)


def with_pictures(traces: QuerySet[Trace]) -> QuerySet[Trace]:
    """Each with `picture`, the hash of what was seen last, and how many branches it has."""
    seen = Event.objects.filter(trace=OuterRef("pk")).exclude(after="").order_by("-seq").values("after")[:1]
    return traces.select_related("owner").annotate(picture=Subquery(seen))
