"""Links that show a trace to strangers: the only writer of them.

A link begins as a draft with a copy that its maker looks at. Then it is issued, once, and its token is shown, once. It
ends when it expires, when it was opened as often as it may be, when it is revoked, or, if it is live, with the run.
"""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.module_loading import import_string

from . import audit, jobs
from .copies import Copier
from .errors import Cancelled, NotPossible
from .export.base import Progress, Scope
from .lifecycle import Person
from .models import Job, Share, Trace
from .safe import Redaction

PREFIX = "gh_share_"
JOB = "share"
DRAFT_LIFETIME = timedelta(days=1)
LONGEST = timedelta(days=366)


def new_token() -> str:
    """192 random bits, in 32 characters."""
    return PREFIX + secrets.token_urlsafe(24)


def hashed(token: str) -> str:
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def draft(
    owner: Person, source: Trace, scope: Scope, *, steps: str = "", live: bool = False, downloads: bool = False
) -> Share:
    """Nobody but its maker can open it yet. A live one shows the run itself; any other gets its copy by `fill`.

    `steps` are those of the scope, in the words of whoever chose them.
    """
    return Share.objects.create(
        owner_id=owner.pk,
        source=source,
        token_hash=hashed(new_token()),
        scope={"branch": scope.branch, "first": scope.first, "last": scope.last},
        steps=steps,
        live=live,
        downloads=downloads and not live,
        expires_at=timezone.now() + DRAFT_LIFETIME,
    )


def fill(share: Share, redaction: Redaction, progress: Progress | None = None) -> Trace:
    """Make the copy. Raises as Copier.make does; then the draft is as it was, and may be filled again."""
    if share.copy is not None:
        share.copy.delete()
    assert share.source is not None
    copier = Copier(share.source, Scope(**share.scope), redaction, progress, began=lambda copy: _attach(share, copy))
    copy = copier.make()
    Share.objects.filter(pk=share.pk).update(report=copy.meta["hidden"])
    share.refresh_from_db()
    return copy


def request(share: Share, sealed: str) -> Job:
    """Have the copy made. `sealed` says what to hide, in the words of settings.TRACE_REDACTION."""
    assert share.source is not None
    return jobs.request(share.owner, JOB, trace=share.source, options={"share": share.pk, "sealed": sealed})


def work(job: Job, progress: Progress) -> str:
    """Raises TraceError."""
    share = Share.objects.filter(pk=job.options["share"], issued_at=None).select_related("source", "copy").first()
    if share is None or share.source is None:
        raise Cancelled("Nobody waits for this copy any more.")
    redaction = import_string(settings.TRACE_REDACTION)(share.source, job.options["sealed"])
    try:
        return fill(share, redaction, progress).pk
    except ValueError as error:
        raise NotPossible(str(error)) from error


def issue(share: Share, expires_at: datetime, most_views: int | None = None) -> str | None:
    """The token of a draft, which is nowhere but here; None when it was issued already."""
    token, now = new_token(), timezone.now()
    issued = Share.objects.filter(pk=share.pk, issued_at=None, revoked_at=None).update(
        token_hash=hashed(token), issued_at=now, expires_at=min(expires_at, now + LONGEST), most_views=most_views
    )
    if not issued:
        return None
    share.refresh_from_db()
    audit.tell("share_created", share=share.pk, trace=share.source_id, owner=share.owner_id, until=share.expires_at)
    return token


def open_by(token: str) -> Share | None:
    """Counted as a view; None when it leads nowhere, whatever the reason."""
    now = timezone.now()
    found = _open().filter(token_hash=hashed(token))
    if not found.filter(Q(most_views=None) | Q(views__lt=F("most_views"))).update(views=F("views") + 1, seen_at=now):
        return None
    share = found.select_related("copy", "source").get()
    audit.tell("share_viewed", share=share.pk, trace=share.source_id, views=share.views)
    return share


def known_by(token: str) -> Share | None:
    """As open_by, but nothing is counted, and one that was opened often enough is known still."""
    return _open().filter(token_hash=hashed(token)).first()


def find(share_id: str) -> Share | None:
    """One that was issued, and has not ended: whoever opened it may go on looking."""
    return _open().filter(pk=share_id).select_related("copy", "source").first()


def revoke(share: Share) -> bool:
    """False when it had been already."""
    done = Share.objects.filter(pk=share.pk, revoked_at=None).update(revoked_at=timezone.now())
    if done:
        audit.tell("share_revoked", share=share.pk, trace=share.source_id, owner=share.owner_id)
    return bool(done)


def revoke_all(owner: Person) -> int:
    return sum(revoke(share) for share in of(owner).filter(revoked_at=None, expires_at__gt=timezone.now()))


def revoke_those_of(trace: Trace) -> int:
    return sum(revoke(share) for share in Share.objects.filter(source=trace, revoked_at=None))


def discard(share: Share) -> None:
    """A draft, and the copy that was made for it."""
    if share.issued_at is None:
        copy = share.copy
        share.delete()
        if copy is not None:
            copy.delete()


def of(owner: Person) -> QuerySet[Share]:
    """All links of a person that were issued, the newest first."""
    return Share.objects.filter(owner=owner.pk).exclude(issued_at=None).select_related("source", "copy")


def shown(share: Share) -> Trace | None:
    """What it shows: its copy, or the run itself."""
    return share.source if share.live else share.copy


def ended(share: Share) -> str:
    """Why it leads nowhere; empty when it does."""
    if share.revoked_at:
        return "revoked"
    if share.expires_at <= timezone.now():
        return "expired"
    if share.live and (share.source is None or share.source.ended_at is not None):
        return "ended"
    if share.most_views is not None and share.views >= share.most_views:
        return "used up"
    return ""


def leftover() -> QuerySet[Trace]:
    """Copies that nobody can open any more: of drafts that were never issued, and of links that have ended."""
    wanted = Share.objects.filter(revoked_at=None, expires_at__gt=timezone.now(), copy__isnull=False)
    return Trace.objects.exclude(copy_of="").exclude(pk__in=wanted.values("copy"))


def _attach(share: Share, copy: Trace) -> None:
    Share.objects.filter(pk=share.pk).update(copy=copy)


def _open() -> QuerySet[Share]:
    there = Q(live=False, copy__isnull=False) | Q(live=True, source__isnull=False, source__ended_at=None)
    return Share.objects.filter(there, revoked_at=None, expires_at__gt=timezone.now()).exclude(issued_at=None)
