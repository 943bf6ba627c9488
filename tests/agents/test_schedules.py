"""Schedules over time: what is started, skipped, missed and caught up with. The clock is told, all else is real."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread
from typing import Any

import numpy as np
import pytest
from django.db import connection
from django.utils import timezone
from django.utils.module_loading import import_string

from agents import api, reference_pictures, removal, schedules
from agents.attaching import keep
from agents.checkers.references import accept_reference, load_reference
from agents.errors import BadTask
from agents.models import Run, State, Task
from agents.standing import Firing, Schedule
from godhand_web.celery import ROUNDS
from godhand_web.models import User
from sandboxes.display.screen import Screen
from traces.models import Blob
from traces.storage import collect, default_store

pytestmark = pytest.mark.usefixtures("redis_url")

NOON = datetime(2027, 3, 1, 12, 0, tzinfo=UTC)
HOUR = timedelta(hours=1)
SOON = timedelta(seconds=3)
Make = Callable[..., Schedule]


@pytest.fixture
def make(owner: User) -> Make:
    """At noon, for every hour from then on unless told otherwise."""

    def make(wording: str = "every hour", **more: Any) -> Schedule:
        task = api.save(owner, "Do it.", provider="scripted", options={"script": "chart"})
        return schedules.make(task, wording, "UTC", now=NOON, **more)

    return make


def told(schedule: Schedule) -> list[tuple[str, int]]:
    """The oldest first."""
    return list(schedule.firings.order_by("pk").values_list("outcome", "times"))


def end(state: State = State.SUCCEEDED) -> None:
    Run.objects.update(state=state)


def test_it_starts_a_run_at_each_moment_and_only_then(make: Make) -> None:
    schedule = make()
    schedules.tick(NOON + HOUR - SOON)
    assert told(schedule) == []
    for hour in (1, 2):
        for _ in range(3):
            schedules.tick(NOON + hour * HOUR + SOON)
        end()
    assert told(schedule) == [("started", 1), ("started", 1)]
    assert schedule.task.runs.count() == 2
    schedule.refresh_from_db()
    assert schedule.next_at == NOON + 3 * HOUR


def test_it_skips_while_a_run_is_going_and_says_so(make: Make) -> None:
    schedule = make()
    schedules.tick(NOON + HOUR)
    schedules.tick(NOON + 2 * HOUR)
    assert told(schedule) == [("started", 1), ("skipped", 1)]
    skipped = schedule.firings.first()
    assert skipped
    assert skipped.run == schedule.task.runs.get()
    end(State.FAILED)
    schedules.tick(NOON + 3 * HOUR)
    assert told(schedule)[-1] == ("started", 1)


def test_it_overlaps_with_no_run_of_the_task_that_it_had_before(make: Make, owner: User) -> None:
    schedule = make()
    schedules.tick(NOON + HOUR)
    before = Run.objects.get()
    schedules.change_task(schedule, api.save(owner, "Do it better.", provider="scripted", options={"script": "chart"}))
    schedules.tick(NOON + 2 * HOUR)
    assert told(schedule) == [("started", 1), ("skipped", 1)]
    end()
    schedules.tick(NOON + 3 * HOUR)
    assert told(schedule)[-1] == ("started", 1)
    assert Run.objects.exclude(pk=before.pk).get().task.goal == "Do it better."


def test_it_leaves_no_task_behind_that_was_changed_before_its_first_run(make: Make, owner: User) -> None:
    schedule = make()
    better = api.save(owner, "Do it better.", provider="scripted", options={"script": "chart"})
    schedules.change_task(schedule, better)
    assert Task.objects.get() == better
    schedule.refresh_from_db()
    assert schedule.task == better


@pytest.mark.parametrize("ran", [False, True])
def test_it_compares_with_the_same_pictures_when_its_task_was_changed(make: Make, owner: User, ran: bool) -> None:
    schedule = make()
    if ran:
        schedules.run_now(schedule)
    before = reference_pictures.folder_of(schedule.task_id)
    accept_reference(before, "chart", Screen.from_rgb(np.zeros((8, 8, 3), np.uint8)), None, ())
    better = api.save(owner, "Do it better.", provider="scripted", options={"script": "chart"})
    schedules.change_task(schedule, better)
    assert load_reference(reference_pictures.folder_of(better.pk), "chart").screen.size == (8, 8)
    assert before.exists() == ran


def test_it_tells_what_was_missed_and_makes_nothing_up_in_a_burst(make: Make) -> None:
    schedule = make()
    schedules.tick(NOON + 5 * HOUR + timedelta(minutes=30))
    assert told(schedule) == [("missed", 5)]
    assert not Run.objects.exists()
    schedules.tick(NOON + 6 * HOUR)
    assert told(schedule) == [("missed", 5), ("started", 1)]


def test_it_catches_up_once_where_that_was_chosen(make: Make) -> None:
    schedule = make(catch_up=True)
    schedules.tick(NOON + 5 * HOUR + timedelta(minutes=30))
    assert told(schedule) == [("missed", 5), ("caught_up", 1)]
    assert Run.objects.count() == 1


def test_it_is_on_time_when_it_is_a_little_late(make: Make) -> None:
    schedule = make(catch_up=True)
    schedules.tick(NOON + 3 * HOUR + timedelta(minutes=9))
    assert told(schedule) == [("missed", 2), ("started", 1)]
    assert Run.objects.count() == 1


def test_it_counts_no_further_than_a_thousand(make: Make) -> None:
    schedule = make("every minute")
    schedules.tick(NOON + timedelta(days=30))
    missed = schedule.firings.get(outcome="missed")
    assert missed.times in (999, 1000)


def test_it_ends_after_its_only_moment(make: Make) -> None:
    schedule = make("2 March 2027 at 8:00")
    schedules.tick(NOON + timedelta(days=1))
    schedule.refresh_from_db()
    assert (schedule.next_at, schedule.active) == (None, True)
    schedules.tick(NOON + timedelta(days=400))
    assert len(told(schedule)) == 1


def test_it_runs_nothing_for_somebody_who_is_gone(make: Make, owner: User) -> None:
    schedule = make()
    User.objects.filter(pk=owner.pk).update(is_active=False)
    schedules.tick(NOON + HOUR)
    assert told(schedule) == []
    User.objects.filter(pk=owner.pk).update(is_active=True, only_looks=True)
    schedules.tick(NOON + HOUR)
    assert told(schedule) == [("failed", 1)]
    assert not Run.objects.exists()
    owner.delete()
    assert not Schedule.objects.exists()


def test_it_rests_while_paused_and_misses_nothing_thereby(make: Make) -> None:
    schedule = make()
    schedules.pause(schedule)
    schedules.tick(NOON + 9 * HOUR)
    schedule.refresh_from_db()
    schedules.resume(schedule)
    schedule.refresh_from_db()
    assert told(schedule) == []
    assert schedule.next_at is not None
    assert timezone.now() < schedule.next_at <= timezone.now() + HOUR


def test_it_says_why_it_could_not_start(make: Make) -> None:
    schedule = make()
    Task.objects.filter(pk=schedule.task_id).update(snapshot="gone")
    schedules.tick(NOON + HOUR)
    failed = schedule.firings.get()
    assert failed.outcome == Firing.Outcome.FAILED
    assert "no such snapshot" in failed.detail
    assert not Run.objects.exists()


def test_it_runs_by_hand_under_the_same_rules(make: Make) -> None:
    schedule = make(runs=2)
    assert schedules.run_now(schedule).outcome == "by_hand"
    assert schedule.task.runs.count() == 2
    assert schedules.run_now(schedule).outcome == "skipped"


def test_it_takes_only_what_can_come(make: Make) -> None:
    for wording, runs in (("1 January 2020 at 8:00", 1), ("every day at 9:00", 17), ("now and then", 1)):
        with pytest.raises(BadTask):
            make(wording, runs=runs)
    assert not Schedule.objects.exists()


def test_it_keeps_its_task_and_files_without_any_run(make: Make, owner: User) -> None:
    file = keep("table.csv", b"a,b\n")
    task = api.save(owner, "Do it.", provider="scripted", options={"script": "chart"}, attachments={"table.csv": file})
    schedule = schedules.make(task, "every hour", "UTC", now=NOON)
    schedules.tick(NOON + HOUR)
    run = task.runs.get()
    run.branches.update(state=State.SUCCEEDED)
    removal.delete_trace(run.trace)
    Blob.objects.update(used_at=timezone.now() - timedelta(days=2))
    collect(default_store(), grace=0)
    schedules.tick(NOON + 2 * HOUR)
    assert [outcome for outcome, _ in told(schedule)] == ["started", "started"]
    schedules.delete(schedule)
    assert Task.objects.filter(pk=task.pk).exists()


def test_it_is_looked_after_by_the_worker_without_beat(make: Make) -> None:
    schedule = make()
    Schedule.objects.update(next_at=timezone.now() - SOON)
    for look in ROUNDS["agents"]:
        import_string(look)()
    schedule.refresh_from_db()
    assert schedule.next_at is not None
    assert schedule.next_at > timezone.now()


@pytest.mark.django_db(transaction=True)
def test_it_starts_once_however_many_look(make: Make) -> None:
    schedule, ready = make(), Barrier(4)

    def look() -> None:
        ready.wait()
        schedules.tick(NOON + HOUR)
        connection.close()

    lookers = [Thread(target=look) for _ in range(4)]
    for looker in lookers:
        looker.start()
    for looker in lookers:
        looker.join()
    assert told(schedule) == [("started", 1)]
    assert Run.objects.count() == 1
