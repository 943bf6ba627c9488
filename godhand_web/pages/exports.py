"""Traces on their way out: what to take, how large it will be, how far it is, and the file."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.contrib import messages
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from traces import jobs
from traces.errors import NotPossible
from traces.export.base import Exporter, Scope
from traces.export.registry import exporter, kinds
from traces.models import Job, JobState, Trace
from traces.sizes import Part, branches_of, scope_of, size_of

from ..access import job_or_404, trace_or_404, visible_jobs
from ..models import User
from .trace_files import ALONE, read, read_async
from .trace_links import number

LISTED = 20
USUAL = "zip"


@dataclass(frozen=True)
class Kind:
    """A kind of export as it is offered for one part of a trace."""

    name: str
    exporter: type[Exporter]
    bytes: int
    warning: str
    off: str


@dataclass(frozen=True)
class Shown:
    """A job as it is listed."""

    job: Job

    @property
    def busy(self) -> bool:
        return self.job.state in jobs.BUSY

    @property
    def label(self) -> str:
        known = kinds().get(self.job.kind)
        return known.label if known else "Import"

    @property
    def icon(self) -> str:
        known = kinds().get(self.job.kind)
        return known.icon if known else "upload"

    @property
    def part(self) -> str:
        branch, said = self.job.options.get("branch"), self.job.options.get("said")
        return f"branch {branch}{f', {said}' if said else ''}" if branch else "all branches"

    @property
    def files(self) -> list[Path]:
        return jobs.results(self.job)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, trace_id: str) -> HttpResponse:
    trace = trace_or_404(request.user, trace_id)
    asked = request.POST if request.method == "POST" else request.GET
    part = Part(asked.get("branch", ""), number(asked.get("first")), number(asked.get("last")))
    chosen = asked.get("kind", "")
    problem, scope = "", Scope()
    try:
        scope = scope_of(trace, part)
        if request.method == "POST":
            begin(request, trace, scope, part, chosen)
            return redirect(f"{reverse('export_trace', args=[trace.pk])}?{asked_for(part, chosen)}")
    except NotPossible as error:
        problem = str(error)
    return page(request, trace, part, scope, chosen=chosen, problem=problem)


def page(request: HttpRequest, trace: Trace, part: Part, scope: Scope, *, chosen: str, problem: str) -> HttpResponse:
    empty = not trace.next_seq > 1
    offered = [] if empty else [offer(trace, scope, name) for name in kinds()]
    context = {
        "trace": trace,
        "part": part,
        "branches": [] if empty else branches_of(trace),
        "kinds": offered,
        "chosen": chosen if chosen in kinds() else USUAL,
        "problem": problem,
        "empty": empty,
        "days": settings.EXPORT_DAYS,
        "jobs": [Shown(job) for job in visible_jobs(request.user).filter(trace=trace, kind__in=kinds())[:LISTED]],
    }
    return render(request, "traces/export.html", context, status=400 if problem else 200)


def offer(trace: Trace, scope: Scope, name: str) -> Kind:
    kind = kinds()[name]
    size = size_of(trace, scope, kind)
    return Kind(name, kind, kind.estimate(size), kind.warning(size), kind.unavailable_reason() or "")


def begin(request: HttpRequest, trace: Trace, scope: Scope, part: Part, kind: str) -> Job:
    """Raises NotPossible."""
    exporter(kind)
    assert isinstance(request.user, User)
    options = {"branch": scope.branch, "first": scope.first, "last": scope.last, "said": said_of(part)}
    return jobs.request(request.user, kind, trace=trace, options=options)


def said_of(part: Part) -> str:
    """A range in the words of whoever chose it."""
    if not (part.first or part.last):
        return ""
    return f"steps {part.first or 1} to {part.last or 'the last'}"


def asked_for(part: Part, kind: str) -> str:
    query = QueryDict(mutable=True)
    query.update({"kind": kind, "branch": part.branch, "first": str(part.first or ""), "last": str(part.last or "")})
    return query.urlencode()


@require_POST
def cancel(request: HttpRequest, job_id: str) -> HttpResponse:
    job = job_or_404(request.user, job_id)
    if not jobs.cancel(job):
        messages.info(request, "It had ended already.")
    return redirect("export_trace", job.trace_id) if job.trace_id else redirect("import_trace")


@require_safe
def download(request: HttpRequest, job_id: str, number: int) -> HttpResponseBase:
    """A file of a finished export; the first is the export itself."""
    job = job_or_404(request.user, job_id)
    files = jobs.results(job)
    if job.state != JobState.DONE or not 1 <= number <= len(files):
        raise Http404
    path = files[number - 1]
    return send(request, path, kinds()[job.kind].media_type if number == 1 and job.kind in kinds() else "text/vtt")


def send(request: HttpRequest, path: Path, media_type: str) -> HttpResponseBase:
    """As a file to be kept, never as something to be shown."""
    chunks = read_async(path) if isinstance(request, ASGIRequest) else read(path)
    headers = {
        "Content-Length": str(path.stat().st_size),
        "Content-Disposition": content_disposition_header(True, path.name) or "attachment",
        "Content-Security-Policy": ALONE,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-store",
    }
    return StreamingHttpResponse(chunks, content_type=media_type, headers=headers)
