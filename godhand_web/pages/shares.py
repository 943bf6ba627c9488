"""Links to traces, as their maker sees them: the dialog, the preview of what strangers will see, and the list."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from agents import sharing
from traces import jobs, queries, shares
from traces.export.base import Scope
from traces.models import Blob, Event, Job, JobState, Share, Trace

from ..access import changeable_trace_or_404, maker_or_403, own_share_or_404
from ..addresses import for_others
from ..models import User
from ..qr import square
from .exports import said_of
from .share_form import LIFETIMES, ForHowLong, What

USUAL = (1280, 800)
LISTED = 500
SHOWN = {"words": "word", "mails": "e-mail address", "keys": "key"}


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, trace_id: str) -> HttpResponse:
    trace = changeable_trace_or_404(request.user, trace_id)
    picture = last_picture(trace)
    size = (picture.width or USUAL[0], picture.height or USUAL[1]) if picture else USUAL
    branches = list(queries.heads(trace.pk))
    form = What(request.POST if request.method == "POST" else None, trace, branches, size)
    if request.method == "POST" and form.is_valid():
        return redirect("share", begin(request, trace, form).pk)
    context = {
        "trace": trace,
        "form": form,
        "said": request.POST if request.method == "POST" else asked(request, trace),
        "branches": branches,
        "live": trace.ended_at is None,
        "picture": picture,
        "size": size,
        "pictures": trace.references.filter(blob__width__isnull=False).count(),
    }
    return render(request, "shares/new.html", context, status=400 if form.errors else 200)


def asked(request: HttpRequest, trace: Trace) -> dict[str, str]:
    """What the form begins with: the address may name a branch, and steps of it."""
    given = {name: request.GET.get(name, "") for name in ("branch", "first", "last")}
    what = "range" if given["first"] or given["last"] else "branch" if given["branch"] else "all"
    return {**given, "what": what, "patterns": "on"}


def begin(request: HttpRequest, trace: Trace, form: What) -> Share:
    """A draft: its copy is made by a worker, unless it is live and needs none."""
    said = form.cleaned_data
    assert isinstance(request.user, User)
    if said["what"] == "live":
        return shares.draft(request.user, trace, Scope(), live=True)
    steps = said_of(form.steps) if said["what"] == "range" else ""
    share = shares.draft(request.user, trace, form.scope, steps=steps, downloads=said["downloads"])
    hide = sharing.sealed(said["words"], patterns=said["patterns"], parts=said["parts"], files=said["downloads"])
    shares.request(share, hide)
    return share


def last_picture(trace: Trace) -> Blob | None:
    """To draw rectangles on."""
    events = Event.objects.filter(trace=trace).exclude(after="").order_by("-seq")
    sha256 = events.values_list("after", flat=True).first()
    return Blob.objects.filter(pk=sha256, width__gt=0, references__trace=trace).first() if sha256 else None


@never_cache
@require_safe
def show(request: HttpRequest, share_id: str) -> HttpResponse:
    """A draft on its way, or ready to be looked at; or a link that was made."""
    return page(request, own_share_or_404(request.user, share_id))


def page(
    request: HttpRequest, share: Share, *, form: ForHowLong | None = None, link: str = "", status: int = 200
) -> HttpResponse:
    job = job_of(share)
    context = {
        "share": share,
        "listed": Listed(share),
        "job": job,
        "busy": job is not None and job.state in jobs.BUSY,
        "failed": job if job and job.state in (JobState.FAILED, JobState.CANCELLED) else None,
        "ready": share.live or (share.copy is not None and not (job and job.state in jobs.BUSY)),
        "form": form,
        "said": form.data if form else {"lifetime": "7d"},
        "lifetimes": LIFETIMES,
        "link": link,
        "square": square(link) if link else None,
    }
    return render(request, "shares/share.html", context, status=status)


def job_of(share: Share) -> Job | None:
    recent = Job.objects.filter(owner=share.owner_id, trace=share.source_id, kind=shares.JOB)[:50]
    return next((job for job in recent if job.options.get("share") == share.pk), None)


@never_cache
@require_POST
def issue(request: HttpRequest, share_id: str) -> HttpResponse:
    """The link is in the answer, and nowhere else ever after."""
    share = own_share_or_404(request.user, share_id)
    maker_or_403(request.user)
    form = ForHowLong(request.POST)
    if share.copy is None and not share.live:
        messages.error(request, "The copy is not there yet.")
        return redirect("share", share.pk)
    if not form.is_valid():
        return page(request, share, form=form, status=400)
    token = shares.issue(share, form.expires_at, form.cleaned_data["most_views"])
    if token is None:
        messages.error(request, "This link was made already, and is shown only once. Make another one if you lost it.")
        return redirect("share", share.pk)
    return page(request, share, link=for_others(request, reverse("open_share", args=[token])))


@require_POST
def discard(request: HttpRequest, share_id: str) -> HttpResponse:
    share = own_share_or_404(request.user, share_id)
    job = job_of(share)
    if job is not None:
        jobs.cancel(job)
    trace_id = share.source_id
    shares.discard(share)
    return redirect("trace", trace_id) if trace_id else redirect("shares")


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    listed = [Listed(share) for share in shares.of(request.user)[:LISTED]]
    listed.sort(key=lambda each: bool(each.ended))
    return render(request, "shares/index.html", {"shares": listed, "open": sum(not each.ended for each in listed)})


@require_POST
def revoke(request: HttpRequest, share_id: str) -> HttpResponse:
    share = own_share_or_404(request.user, share_id)
    if shares.revoke(share):
        messages.success(request, "The link is revoked; whoever opens it now finds nothing.")
    else:
        messages.info(request, "The link had been revoked already.")
    return redirect("shares")


@require_POST
def revoke_all(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    count = shares.revoke_all(request.user)
    messages.success(
        request, f"{count} link{'s are' if count != 1 else ' is'} revoked." if count else "No link was open."
    )
    return redirect("shares")


@dataclass(frozen=True)
class Listed:
    """A link in words."""

    share: Share

    @property
    def title(self) -> str:
        trace = self.share.copy or self.share.source
        return trace.title if trace else "a trace that was deleted"

    @property
    def ended(self) -> str:
        return shares.ended(self.share)

    @property
    def until(self) -> datetime:
        return self.share.revoked_at or self.share.expires_at

    @property
    def scope(self) -> str:
        if self.share.live:
            return "live"
        branch = self.share.scope["branch"]
        return f"branch {branch}{f', {self.share.steps}' if self.share.steps else ''}" if branch else "all of it"

    @property
    def hidden(self) -> list[str]:
        """The report in words."""
        report = self.share.report
        found = [plural(report[name], noun) for name, noun in SHOWN.items() if report.get(name)]
        if report.get("pictures"):
            found.append(f"{plural(report['pictures'], 'picture')} masked")
        if report.get("files"):
            found.append(f"{plural(report['files'], 'file')} left out")
        return found


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 'es' if noun.endswith('s') else 's'}"
