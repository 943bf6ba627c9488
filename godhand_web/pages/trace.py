"""The page of one trace, and what it asks for while one looks at it."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.http import require_safe

from traces.models import Trace

from ..access import may_change_trace, may_create, trace_or_404
from . import trace_answers as answers
from . import trace_files as files
from .branches import fork_address
from .trace_links import Links, Wanted, elsewhere
from .trace_view import TraceView

View = Callable[..., HttpResponseBase]
OTHERS = frozenset({"compare", "export", "share"})


def address(trace_id: str) -> str:
    return reverse("trace", args=[trace_id])


def seen(view: View) -> View:
    """The answer about a trace, for whoever may see it."""

    @require_safe
    @wraps(view)
    def ask(request: HttpRequest, trace_id: str, **about: Any) -> HttpResponseBase:
        return view(request, trace_or_404(request.user, trace_id), **about)

    return ask


@seen
def show(request: HttpRequest, trace: Trace) -> HttpResponse:
    links = Links(address(trace.pk), Wanted.read(request.GET))
    fork = fork_address(request.user, trace)
    view = TraceView(trace, links, remarks=may_create(request.user), socket=f"/ws/traces/{trace.pk}/", fork=fork)
    offered = OTHERS if may_change_trace(request.user, trace) else OTHERS - {"share"}
    others = {name: elsewhere(f"{name}_trace", trace.pk) for name in offered}
    return answers.html(request, "traces/trace.html", {"view": view, "trace": trace, "others": others})


@seen
def details(request: HttpRequest, trace: Trace, seq: int) -> HttpResponse:
    fork = fork_address(request.user, trace)
    return answers.details(request, trace, seq, base=address(trace.pk), remarks=may_create(request.user), fork=fork)


@seen
def tree(request: HttpRequest, trace: Trace) -> HttpResponse:
    return answers.tree(request, trace, base=address(trace.pk), fork=fork_address(request.user, trace))


path = seen(answers.path)
steps = seen(answers.steps)
changes = seen(answers.changes)
search = seen(answers.hits)
picture = seen(files.picture)
thumb = seen(files.thumb)
sheet = seen(files.strip)
download = seen(files.download)
