"""What the addresses of traces and of links to them name."""

from datetime import timedelta

from django.utils import timezone

from godhand_web.models import User
from traces import jobs, shares
from traces.export.base import Scope
from traces.hiding import Hider
from traces.models import Event, Job, JobState, Remark, Trace
from traces.pictures import Masked
from traces.safe import Redaction

from .example import example_trace, single_branch

UNISSUED = ("issue_share", "discard_share")


def about_a_trace(owner: User) -> dict[str, object]:
    """Of the owner's, with a file, a picture and a remark. `seq` is the file's step."""
    trace = example_trace(owner)
    facts = inside(trace)
    remark = Remark.objects.create(event=Event.objects.get(trace=trace, kind="file"), author=owner, text="Nice.")
    return {"trace_id": trace.pk, "number": remark.pk, **facts}


def about_a_share(owner: User, name: str) -> dict[str, object]:
    """Of a link that was issued, or of a draft for the pages that issue and discard one."""
    share = shares.draft(owner, example_trace(owner), Scope(), downloads=True)
    copy = shares.fill(share, Redaction(Hider([]), Masked, files=True))
    token = None if name in UNISSUED else shares.issue(share, timezone.now() + timedelta(days=1))
    return {"share_id": share.pk, "share_token": token, **inside(copy)}


def about_a_job(owner: User, name: str) -> dict[str, object]:
    """An export with a file; one that waits, for the page that cancels it."""
    state = JobState.QUEUED if name == "cancel_job" else JobState.DONE
    job = Job.objects.create(owner=owner, kind="zip", trace=single_branch(owner), state=state, result="a.zip")
    jobs.folder(job.pk).mkdir(parents=True)
    (jobs.folder(job.pk) / "a.zip").write_bytes(b"PK")
    return {"job_id": job.pk, "number": 1}


def inside(trace: Trace) -> dict[str, object]:
    events = Event.objects.filter(trace=trace).order_by("seq")
    shown = events.exclude(after="").filter(branch="main")
    file = events.get(kind="file")
    return {"seq": file.seq, "sha256": shown[0].after, "first": shown[0].seq, "last": shown[1].seq}
