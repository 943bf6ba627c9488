"""The only writer of schedules. Rows decide: whoever looks at a due one claims its moment by one conditional update.

A worker looks every two seconds by itself (`godhand_web/celery.py`), so neither beat nor the broker has to be there.
Nothing is ever made up for in a burst: moments that passed while nobody looked are told as missed, and at most one run
catches up with them, where the schedule says so.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.module_loading import import_string

from sandboxes.errors import SandboxError
from traces.errors import TraceError

from . import api, reference_pictures, timing
from .errors import AgentError, BadTask
from .models import ENDED, Run, Task
from .standing import Firing, Schedule

log = logging.getLogger(__name__)

LATE = timedelta(minutes=10)
"""A run that begins no later than this is on time."""

MOST_MISSED = 1000
KEPT = 500
TROUBLE = (AgentError, SandboxError, TraceError)
Outcome = Firing.Outcome


def make(
    task: Task, wording: str, zone: str, *, name: str = "", runs: int = 1, catch_up: bool = False, now: Any = None
) -> Schedule:
    """Raises BadTask, which says what is not understood."""
    api.check_runs(runs)
    rule, next_at = understood(wording, zone, now)
    title = (name.strip() or task.goal.strip().splitlines()[0])[:80]
    facts = {"wording": wording.strip(), "rule": rule.text, "zone": zone, "next_at": next_at}
    return Schedule.objects.create(owner=task.owner, task=task, name=title, runs=runs, catch_up=catch_up, **facts)


def change(schedule: Schedule, wording: str, zone: str, *, name: str, runs: int, catch_up: bool) -> None:
    """From its next moment on. Raises BadTask."""
    api.check_runs(runs)
    rule, next_at = understood(wording, zone)
    title = name.strip()[:80] or schedule.name
    facts = {"wording": wording.strip(), "rule": rule.text, "zone": zone, "name": title, "runs": runs}
    Schedule.objects.filter(pk=schedule.pk).update(
        catch_up=catch_up, next_at=next_at if schedule.active else None, **facts
    )


def change_task(schedule: Schedule, task: Task) -> None:
    """Its next runs are of another task; what the old one did stays, and one without any run goes."""
    with transaction.atomic():
        old = Schedule.objects.values_list("task", flat=True).get(pk=schedule.pk)
        Schedule.objects.filter(pk=schedule.pk).update(task=task)
        reference_pictures.hand_on(old, task.pk)
        _forget_unused(old)


def understood(wording: str, zone: str, now: datetime | None = None) -> tuple[timing.Rule, datetime]:
    """The rule and its next moment. Raises BadTask, also when none will come."""
    rule = timing.read(wording, zone)
    next_at = rule.after(now or timezone.now())
    if next_at is None:
        raise BadTask("schedule: no such moment comes any more.")
    return rule, next_at


def rule_of(schedule: Schedule) -> timing.Rule:
    """Raises BadTask when the host does not know its time zone any more."""
    return timing.read(schedule.rule, schedule.zone)


def pause(schedule: Schedule) -> None:
    Schedule.objects.filter(pk=schedule.pk).update(active=False, next_at=None)


def resume(schedule: Schedule) -> None:
    """From now on: what would have been in the meantime was not missed. Raises BadTask."""
    next_at = rule_of(schedule).after(timezone.now())
    Schedule.objects.filter(pk=schedule.pk, active=False).update(active=True, next_at=next_at)


def delete(schedule: Schedule) -> None:
    """Its task and their runs stay; a task without any run goes."""
    with transaction.atomic():
        Schedule.objects.filter(pk=schedule.pk).delete()
        _forget_unused(schedule.task_id)


def _forget_unused(task_id: str) -> None:
    deleted, _ = Task.objects.filter(pk=task_id, runs__isnull=True).delete()
    if deleted:
        reference_pictures.forget(task_id)


def run_now(schedule: Schedule) -> Firing:
    """Beside its moments, and under the same rules."""
    with transaction.atomic():
        return _begin(schedule, timezone.now(), Outcome.BY_HAND)


def going(schedule: Schedule) -> Run | None:
    """The run that the next one would overlap with, also of a task that it had before."""
    its = Q(task=schedule.task_id) | Q(firings__schedule=schedule)
    return Run.objects.filter(its).exclude(state__in=ENDED).order_by("created_at").first()


def tick(now: datetime | None = None) -> None:
    """Every due schedule of somebody who may start tasks; those of others wait, and nothing of theirs runs."""
    moment = now or timezone.now()
    due = Schedule.objects.filter(active=True, next_at__lte=moment, owner__is_active=True)
    for schedule in due.select_related("task", "owner"):
        try:
            _look(schedule, moment)
        except Exception:
            log.exception("schedule %s", schedule.pk)


def _look(schedule: Schedule, now: datetime) -> None:
    assert schedule.next_at is not None
    try:
        rule = rule_of(schedule)
    except BadTask as error:
        pause(schedule)
        _tell(schedule, Outcome.FAILED, schedule.next_at, detail=f"Paused: {error}")
        return
    last = max(rule.between(max(now - LATE, schedule.next_at - timedelta(seconds=1)), now), default=None)
    missed = _missed(rule, schedule.next_at, last or now, counted=last is not None)
    with transaction.atomic():
        mine = Schedule.objects.filter(pk=schedule.pk, active=True, next_at=schedule.next_at)
        if not mine.update(next_at=rule.after(now)):
            return
        if missed:
            told = "Nobody was there to start it: the installation, or its worker, was down."
            _tell(schedule, Outcome.MISSED, schedule.next_at, times=missed, detail=told)
        if last:
            _begin(schedule, last, Outcome.STARTED)
        elif missed and schedule.catch_up:
            _begin(schedule, now, Outcome.CAUGHT_UP)


def _missed(rule: timing.Rule, first: datetime, until: datetime, *, counted: bool) -> int:
    """How many moments came from the first one on, up to a thousand; without the last where that is on time."""
    came = rule.between(first - timedelta(seconds=1), until)
    return sum(1 for _ in islice(came, MOST_MISSED)) - (1 if counted else 0)


def _begin(schedule: Schedule, due: datetime, outcome: Outcome) -> Firing:
    if not _may_start(schedule.owner):
        return _tell(schedule, Outcome.FAILED, due, detail="Its owner may not start tasks any more.")
    if run := going(schedule):
        return _tell(schedule, Outcome.SKIPPED, due, run=run, detail="The run before it was still going.")
    try:
        with transaction.atomic():
            runs = [api.start(schedule.task) for _ in range(schedule.runs)]
    except TROUBLE as error:
        return _tell(schedule, Outcome.FAILED, due, detail=str(error))
    first, *_ = [_tell(schedule, outcome, due, run=run) for run in runs]
    return first


def _tell(schedule: Schedule, outcome: Outcome, due: datetime, **more: Any) -> Firing:
    told = Firing.objects.create(schedule=schedule, outcome=outcome, due_at=due, **more)
    old = schedule.firings.order_by("-pk").values_list("pk", flat=True)[KEPT : KEPT + 1]
    Firing.objects.filter(schedule=schedule, pk__lte=next(iter(old), 0)).delete()
    return told


def _may_start(owner: Any) -> bool:
    allowed: Callable[[Any], bool] = import_string(settings.MAY_START)
    return allowed(owner)
