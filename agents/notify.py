"""Tells people's addresses what became of their runs. Rows decide what is to be told, and that it is told once.

A worker looks by itself, as it does for schedules. What was written a moment too late for one look is found by the
next: each looks back further than the last one ended, and a notice that exists already is not made again.
"""

import logging
import secrets
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from . import vault, webhooks
from .errors import AgentError
from .models import Branch, Run, State
from .standing import Firing, Notice, Webhook
from .webhooks import NotSent

log = logging.getLogger(__name__)

BACK = timedelta(minutes=10)
AT_ONCE = 20
WAITS = (10, 60, 300, 1800, 7200)
"""Seconds before the second try, the third, and so on."""

KEPT = timedelta(days=30)
TOLD = (Firing.Outcome.MISSED, Firing.Outcome.FAILED, Firing.Outcome.SKIPPED)


def choose(owner: Any, url: str, *, on_help: bool, on_end: bool) -> str:
    """The secret that signs, when the address is new: it is shown this once. Raises NotSent."""
    webhooks.addresses(webhooks.checked(url), settings.WEBHOOK_NETWORKS)
    flags = {"on_help": on_help, "on_end": on_end}
    if Webhook.objects.filter(owner=owner, url=url.strip()).update(**flags):
        return ""
    secret = f"gh_hook_{secrets.token_urlsafe(32)}"
    Webhook.objects.filter(owner=owner).delete()
    Webhook.objects.create(owner=owner, url=url.strip(), secret=vault.seal(secret), **flags)
    return secret


def forget(owner: Any) -> None:
    Webhook.objects.filter(owner=owner).delete()


def test(hook: Webhook, url: str) -> int:
    """The status of the answer to a message about nothing. Raises AgentError.

    An address that is not saved yet has no secret: what it gets is signed with one that nobody knows.
    """
    body = {"type": "test", "at": timezone.now().isoformat(), "text": "GodHand can reach this address."}
    secret = vault.unseal(hook.secret) if url == hook.url else secrets.token_urlsafe(32)
    return webhooks.send(url, body, secret, also=settings.WEBHOOK_NETWORKS)


def tick(now: datetime | None = None) -> None:
    moment = now or timezone.now()
    for hook in Webhook.objects.filter(owner__is_active=True):
        try:
            _look(hook, moment)
        except Exception:
            log.exception("webhook %s", hook.pk)
    due = Notice.objects.filter(try_at__lte=moment, webhook__owner__is_active=True).order_by("made_at")
    for notice in due.select_related("webhook")[:AT_ONCE]:
        _deliver(notice, moment)
    Notice.objects.filter(made_at__lt=moment - KEPT).delete()


def _look(hook: Webhook, now: datetime) -> None:
    since = max(hook.made_at, hook.looked_at - BACK)
    fresh = [
        *(_of_help(hook, since) if hook.on_help else ()),
        *(_of_ends(hook, since) if hook.on_end else ()),
    ]
    Notice.objects.bulk_create(fresh, ignore_conflicts=True)
    Webhook.objects.filter(pk=hook.pk).update(looked_at=now)


def _of_help(hook: Webhook, since: datetime) -> Iterator[Notice]:
    asking = Branch.objects.filter(run__task__owner=hook.owner_id, state=State.NEEDS_HELP, state_since__gte=since)
    for branch in asking.select_related("run__task"):
        body = _about(branch.run, "run.needs_help", branch.state_since, branch.question or branch.detail)
        body["url"] = settings.PUBLIC_URL + page_of(branch)
        yield Notice(webhook=hook, key=f"help {branch.pk} {branch.state_since.timestamp():.0f}", body=body)
    firings = Firing.objects.filter(schedule__owner=hook.owner_id, outcome__in=TOLD, at__gte=since)
    for firing in firings.select_related("schedule"):
        url = settings.PUBLIC_URL + reverse("schedule", args=[firing.schedule_id])
        body = {
            "type": f"schedule.{firing.outcome}",
            "at": firing.at.isoformat(),
            "schedule": firing.schedule_id,
            "title": firing.schedule.name,
            "times": firing.times,
            "text": firing.detail[:500],
            "url": url,
        }
        yield Notice(webhook=hook, key=f"firing {firing.pk}", body=body)


def _of_ends(hook: Webhook, since: datetime) -> Iterator[Notice]:
    for run in Run.objects.filter(task__owner=hook.owner_id, ended_at__gte=since).select_related("task"):
        assert run.ended_at is not None
        counts = Q(pk=run.chosen_id) if run.chosen_id else Q(parent=None)
        branch = run.branches.filter(counts).first()
        text = (branch.claim or branch.detail) if branch else ""
        body = _about(run, "run.ended", run.ended_at, text)
        yield Notice(webhook=hook, key=f"end {run.pk} {run.ended_at.timestamp():.0f}", body=body)


def page_of(branch: Branch) -> str:
    """Where a person sees this very branch."""
    shown = f"?{urlencode({'branch': branch.name})}" if branch.parent_id else ""
    return reverse("run", args=[branch.run.task_id, branch.run_id]) + shown


def _about(run: Run, kind: str, at: datetime, text: str) -> dict[str, Any]:
    return {
        "type": kind,
        "at": at.isoformat(),
        "task": run.task_id,
        "run": run.pk,
        "state": run.state,
        "title": run.task.goal.strip().splitlines()[0][:200],
        "text": text[:500],
        "url": settings.PUBLIC_URL + reverse("run", args=[run.task_id, run.pk]),
    }


def _deliver(notice: Notice, now: datetime) -> None:
    """Claimed first: two workers do not tell the same."""
    wait = WAITS[notice.tries] if notice.tries < len(WAITS) else None
    again = now + timedelta(seconds=wait) if wait else None
    mine = Notice.objects.filter(pk=notice.pk, try_at=notice.try_at)
    if not mine.update(try_at=again, tries=F("tries") + 1):
        return
    told = Notice.objects.filter(pk=notice.pk)
    hook = notice.webhook
    try:
        message = {"id": notice.pk, **notice.body}
        status = webhooks.send(hook.url, message, vault.unseal(hook.secret), also=settings.WEBHOOK_NETWORKS)
        told.update(delivered=True, try_at=None, answer=f"It answered {status}.")
    except AgentError as error:
        log.warning("notice %s not delivered: %s", notice.pk, error)
        told.update(answer=str(error)[:200])
        if isinstance(error, NotSent) and error.for_good:
            told.update(try_at=None)
