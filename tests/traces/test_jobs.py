"""Jobs are claimed once, can be stopped, outlive their workers, and leave nothing behind that nobody wants."""

import os
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.utils import timezone

from godhand_web.models import User
from traces import jobs, tasks
from traces.errors import NotPossible
from traces.models import Job, JobState, Trace

from .conftest import RecorderOf
from .stories import tell

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def exports(settings: LazySettings, tmp_path: Path) -> Path:
    settings.EXPORTS = tmp_path / "exports"
    return tmp_path / "exports"


@pytest.fixture
def job(owner: User) -> Job:
    return jobs.request(owner, "test")


def make(job: Job, progress: jobs.JobProgress) -> str:
    progress.expect(2, "Writing")
    (jobs.draft(job) / "a.txt").write_text("done")
    (jobs.draft(job) / "b.txt").write_text("beside")
    progress.advance(2)
    return "a.txt"


def run(job: Job, work: jobs.Work = make) -> Job:
    jobs.run(job.pk, {"test": work})
    job.refresh_from_db()
    return job


def quiet(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(beat_at=timezone.now() - 2 * jobs.STALE)


def test_it_does_the_work_once(job: Job) -> None:
    assert run(job).state == JobState.DONE
    assert (job.result, job.size, job.total, job.detail) == ("a.txt", 10, 2, "")
    assert [path.name for path in jobs.results(job)] == ["a.txt", "b.txt"]
    jobs.run(job.pk, {})


def test_it_says_what_went_wrong(job: Job, exports: Path) -> None:
    def fail(job: Job, progress: jobs.JobProgress) -> str:
        make(job, progress)
        raise NotPossible("There is no such branch.")

    assert run(job, fail).state == JobState.FAILED
    assert job.detail == "There is no such branch."
    assert [path for path in exports.rglob("*") if path.is_file()] == []


def test_it_keeps_faults_of_its_own_to_the_log(job: Job, caplog: pytest.LogCaptureFixture) -> None:
    assert run(job, lambda job, progress: str(1 / 0)).state == JobState.FAILED
    assert "division" not in job.detail
    assert "division" in caplog.text


def test_it_stops_when_somebody_cancels(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "WRITTEN_EVERY", 0)

    def cancelled_meanwhile(job: Job, progress: jobs.JobProgress) -> str:
        progress.advance()
        assert jobs.cancel(job)
        progress.advance()
        raise AssertionError("It went on.")

    assert run(job, cancelled_meanwhile).state == JobState.CANCELLED
    assert not jobs.cancel(job)


def test_one_that_waits_is_cancelled_at_once(job: Job) -> None:
    jobs.given(job.pk).parent.mkdir(parents=True)
    jobs.given(job.pk).write_bytes(b"x")
    assert jobs.cancel(job)
    assert run(job).state == JobState.CANCELLED
    assert not jobs.given(job.pk).exists()


def test_another_worker_begins_anew_when_one_dies(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING, attempt=1)
    jobs.heal()
    assert run(job).state == JobState.RUNNING, "it was heard of just now"
    quiet(job)
    jobs.heal()
    assert run(job).state == JobState.DONE
    assert job.attempt == 2


def test_it_gives_up_when_two_workers_died(job: Job) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.RUNNING, attempt=2)
    quiet(job)
    jobs.heal()
    job.refresh_from_db()
    assert (job.state, job.detail) == (JobState.FAILED, "The worker died twice while at it.")


def test_a_worker_that_was_given_up_changes_nothing(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "WRITTEN_EVERY", 0)

    def slow(job: Job, progress: jobs.JobProgress) -> str:
        make(job, progress)
        quiet(job)
        jobs.heal()
        jobs.run(job.pk, {"test": make})
        (jobs.draft(job) / "a.txt").write_text("late")
        progress.advance()
        raise AssertionError("It went on.")

    assert run(job, slow).state == JobState.DONE
    assert jobs.results(job)[0].read_text() == "done"


def test_it_says_that_it_is_alive_beside_the_work(
    transactional_db: None, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "BEAT", 0.01)
    job = jobs.request(owner, "test")
    quiet(job)

    def wait(job: Job, progress: jobs.JobProgress) -> str:
        quiet(job)
        deadline = time.monotonic() + 10
        while Job.objects.get(pk=job.pk).beat_at < timezone.now() - jobs.STALE and time.monotonic() < deadline:
            time.sleep(0.01)
        return make(job, progress)

    assert run(job, wait).state == JobState.DONE
    assert job.beat_at > timezone.now() - jobs.STALE


def test_it_asks_again_when_a_message_was_lost(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(jobs, "_enqueue", sent.append)
    quiet(job)
    jobs.heal()
    jobs.heal()
    assert sent == [job.pk]


def test_it_removes_what_is_old_and_what_is_nobodys(job: Job, exports: Path, settings: LazySettings) -> None:
    run(job)
    for name in (".new/gone-1/x", "gone/x", ".given/gone"):
        (exports / name).parent.mkdir(parents=True, exist_ok=True)
        (exports / name).write_text("x")
    for place in (exports / ".new/gone-1", exports / "gone", exports / ".given/gone"):
        os.utime(place, (1, 1))
    jobs.reap()
    assert {path.name for path in exports.rglob("*") if path.is_file()} == {"a.txt", "b.txt"}
    Job.objects.update(ended_at=timezone.now() - timedelta(days=settings.EXPORT_DAYS + 1))
    os.utime(jobs.folder(job.pk), (1, 1))
    jobs.reap()
    assert not jobs.folder(job.pk).exists()
    assert not Job.objects.exists()


def test_it_sends_for_a_worker_when_the_row_is_there(
    owner: User, redis_url: str, django_capture_on_commit_callbacks: Callable[..., object]
) -> None:
    with django_capture_on_commit_callbacks(execute=True) as sent:  # type: ignore[attr-defined]
        jobs.request(owner, "test")
    assert len(sent) == 1


def test_it_exports_and_brings_in(
    owner: User,
    trace: Trace,
    recorder_of: RecorderOf,
    settings: LazySettings,
    monkeypatch: pytest.MonkeyPatch,
    store: object,
) -> None:
    monkeypatch.setattr("traces.material.default_store", lambda: store)
    monkeypatch.setattr("traces.importing.default_store", lambda: store)
    tell(recorder_of)
    job = jobs.request(owner, "zip", trace=trace, options={"branch": "b1"})
    tasks.work(job.pk)
    (out,) = jobs.results(Job.objects.get(pk=job.pk))
    assert out.name == f"Pivot the sheet {job.created_at:%Y-%m-%d %H.%M}.zip"
    with out.open("rb") as file:
        again = jobs.request_import(owner, file, out.name)
    tasks.work(again.pk)
    again.refresh_from_db()
    assert Trace.objects.get(pk=again.result).owner == owner
    assert not jobs.given(again.pk).exists()
