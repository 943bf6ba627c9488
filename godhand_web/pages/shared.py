"""What strangers with a link see. There are no accounts here: every view asks for the pass of one link.

Whatever is wrong with a link, its page, its pictures and its token are answered in the same words.
"""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from traces import jobs, shares
from traces.export.base import Exporter
from traces.export.registry import kinds
from traces.models import Job, Remark, Share, Trace

from .. import audit, passes, throttle
from ..access import share_for
from ..models import User
from . import exports
from . import trace_answers as answers
from . import trace_files as files
from .shares import Listed
from .trace_details import Details, Handed
from .trace_links import Links, Wanted
from .trace_steps import cards
from .trace_view import TraceView

Rest = ParamSpec("Rest")
View = Callable[..., HttpResponseBase]
Answer = Callable[Concatenate[HttpRequest, Trace, Rest], HttpResponseBase]

WRONG_TRIES, SECONDS = 30, 60
KINDS = ("html", "zip")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)


def alone(response: HttpResponseBase) -> HttpResponseBase:
    """Tells nobody where it came from, and is kept by nobody."""
    response.headers["Referrer-Policy"] = "no-referrer"
    response.headers["X-Robots-Tag"] = "noindex, nofollow, noarchive"
    response.headers.setdefault("Content-Security-Policy", POLICY)
    response.headers.setdefault("Cache-Control", "private, no-store")
    return response


def nowhere(request: HttpRequest, status: int = 404) -> HttpResponseBase:
    return alone(render(request, "shares/nowhere.html", status=status))


@login_not_required
@require_safe
def enter(request: HttpRequest, share_token: str) -> HttpResponseBase:
    """The token for a pass. Who has the pass already is not counted again."""
    known = shares.known_by(share_token)
    if known is not None and passes.holds(request, known):
        return alone(redirect("shared", known.pk))
    share = shares.open_by(share_token) if request.method == "GET" else known
    if share is None:
        return nowhere(request, 429 if throttle.too_often(request, "share", WRONG_TRIES, SECONDS) else 404)
    response = redirect("shared", share.pk)
    if request.method == "GET":
        passes.give(response, share)
        person = request.user if isinstance(request.user, User) else None
        audit.write("opened a link", person=person, request=request, thing=("share", share.pk))
    return alone(response)


def opened(view: View) -> View:
    """The answer for whoever has a pass of the link, from what it shows and from nothing else."""

    @login_not_required
    @wraps(view)
    def ask(request: HttpRequest, share_id: str, *args: object, **kwargs: object) -> HttpResponseBase:
        share = share_for(request, share_id)
        trace = shares.shown(share) if share else None
        if share is None or trace is None:
            return nowhere(request)
        try:
            return alone(view(request, share, trace, *args, **kwargs))
        except Http404:
            return nowhere(request)

    return ask


def of_trace(view: Answer[Rest]) -> View:
    return require_safe(opened(lambda request, _, trace, *args, **kwargs: view(request, trace, *args, **kwargs)))


class LiveDetails(Details):
    """Of a run that goes on, without what was never made safe: the provider's own words, people's notes, and files."""

    raw = ""
    remarks: list[Remark] = []
    files: list[Handed] = []


class LiveView(TraceView):
    """Without a socket: the page looks again by itself."""

    @property
    def details(self) -> Details | None:
        return LiveDetails(self.trace.pk, self.card) if self.card else None


def base_of(share: Share) -> str:
    return reverse("shared", args=[share.pk])


@require_safe
@opened
def show(request: HttpRequest, share: Share, trace: Trace) -> HttpResponse:
    links = Links(base_of(share), Wanted.read(request.GET))
    view = LiveView(trace, links) if share.live else TraceView(trace, links)
    context = {"view": view, "trace": trace, "share": share, "listed": Listed(share)}
    return answers.html(request, "shares/shared.html", context)


@require_safe
@opened
def details(request: HttpRequest, share: Share, trace: Trace, seq: int) -> HttpResponse:
    if not share.live:
        return answers.details(request, trace, seq, base=base_of(share))
    found = cards(trace.pk, {seq: 0})
    if not found:
        raise Http404
    links = Links(base_of(share), Wanted.read(answers.with_step(request.GET, seq)))
    view = answers.DetailView(trace, links, LiveDetails(trace.pk, found[0]))
    return answers.html(request, "traces/_detail.html", {"view": view})


@require_safe
@opened
def tree(request: HttpRequest, share: Share, trace: Trace) -> HttpResponse:
    return answers.tree(request, trace, base=base_of(share))


@require_safe
@opened
def download(request: HttpRequest, share: Share, trace: Trace, seq: int) -> HttpResponseBase:
    if not share.downloads:
        raise Http404
    return files.download(request, trace, seq)


@require_http_methods(["GET", "HEAD", "POST"])
@opened
def take(request: HttpRequest, share: Share, trace: Trace) -> HttpResponseBase:
    """The whole copy in one file. It is made once, when the first visitor asks for it."""
    if not share.downloads:
        raise Http404
    made = {job.kind: job for job in Job.objects.filter(trace=trace, kind__in=KINDS).order_by("created_at")}
    asked = made.get(request.GET.get("kind", ""))
    if asked is not None and (found := jobs.results(asked)):
        return exports.send(request, found[0], kinds()[asked.kind].media_type)
    wanted = request.POST.get("kind")
    if wanted in offered() and (wanted not in made or not waits(made[wanted])):
        jobs.request(share.owner, wanted, trace=trace)
        return redirect("take_shared", share.pk)
    listed = [(name, kind, made.get(name)) for name, kind in offered().items()]
    busy = any(job is not None and job.state in jobs.BUSY for _, _, job in listed)
    return render(request, "shares/take.html", {"share": share, "trace": trace, "kinds": listed, "busy": busy})


def offered() -> dict[str, type[Exporter]]:
    return {name: kinds()[name] for name in KINDS if name in kinds() and not kinds()[name].unavailable_reason()}


def waits(job: Job) -> bool:
    """Whether it is under way, or has its file."""
    return job.state in jobs.BUSY or bool(jobs.results(job))


path = of_trace(answers.path)
steps = of_trace(answers.steps)
changes = of_trace(answers.changes)
search = of_trace(answers.hits)
picture = of_trace(files.picture)
thumb = of_trace(files.thumb)
sheet = of_trace(files.strip)
