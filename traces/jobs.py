"""The only writer of jobs. A move is one conditional update: whoever changes the row has won.

    queued ──▶ running ──┬─▶ done
       ▲          │      ├─▶ failed
       └──────────┘      └─▶ cancelled      a worker that dies is heard no more, and another one begins anew

<exports>/<id>/…             what a job has made, until that gets too old
<exports>/.new/<id>-<n>/…    what its n-th worker is at
<exports>/.given/<id>        what it was given
"""

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, QuerySet
from django.db.utils import DatabaseError
from django.utils import timezone
from kombu.exceptions import OperationalError

from .blobs import room
from .errors import Cancelled, TraceError
from .lifecycle import Person
from .models import Job, JobState, Trace

log = logging.getLogger(__name__)

IMPORT = "import"
BEAT = 5.0
WRITTEN_EVERY = 0.5
STALE = timedelta(seconds=60)
ATTEMPTS = 2
BUSY = (JobState.QUEUED, JobState.RUNNING)
ENDED = (JobState.DONE, JobState.FAILED, JobState.CANCELLED)

Work = Callable[[Job, "JobProgress"], str]
"""Does what the job asks for, into its draft folder, and gives its result."""


def request(owner: Person, kind: str, *, trace: Trace | None = None, options: Mapping[str, Any] | None = None) -> Job:
    """A queued job; a worker does the rest."""
    job = Job.objects.create(owner_id=owner.pk, trace=trace, kind=kind, options=dict(options or {}))
    transaction.on_commit(partial(_enqueue, job.pk))
    return job


def request_import(owner: Person, file: BinaryIO, name: str) -> Job:
    """What is given is there before anybody can see the job. Raises DiskFull."""
    job = Job(owner_id=owner.pk, kind=IMPORT, options={"name": name[:200]})
    place = given(job.pk)
    try:
        with room():
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as out:
                shutil.copyfileobj(file, out, 1 << 20)
        job.save(force_insert=True)
    except BaseException:
        place.unlink(missing_ok=True)
        raise
    transaction.on_commit(partial(_enqueue, job.pk))
    return job


def cancel(job: Job) -> bool:
    """False when it has ended already. One that runs stops at its next look."""
    mine = Job.objects.filter(pk=job.pk)
    if mine.filter(state=JobState.QUEUED).update(state=JobState.CANCELLED, ended_at=timezone.now()):
        given(job.pk).unlink(missing_ok=True)
        return True
    return bool(mine.filter(state=JobState.RUNNING).update(cancelled=True))


def run(job_id: str, work: Mapping[str, Work]) -> None:
    """Nothing, when somebody else has it, or nobody wants it any more."""
    if not Job.objects.filter(pk=job_id, state=JobState.QUEUED).update(
        state=JobState.RUNNING, attempt=F("attempt") + 1, beat_at=timezone.now()
    ):
        return
    job = Job.objects.get(pk=job_id)
    draft(job).mkdir(parents=True, exist_ok=True)
    try:
        with _heard(job):
            _end(job, *_outcome(job, work[job.kind]))
    finally:
        shutil.rmtree(draft(job), ignore_errors=True)


def heal() -> None:
    """Jobs whose worker died begin anew, once; those whose message was lost are sent for again."""
    quiet = Job.objects.filter(beat_at__lt=timezone.now() - STALE)
    for job in quiet.filter(state=JobState.RUNNING):
        mine = _still(job)
        if job.cancelled:
            mine.update(state=JobState.CANCELLED, ended_at=timezone.now())
        elif job.attempt >= ATTEMPTS:
            mine.update(state=JobState.FAILED, detail="The worker died twice while at it.", ended_at=timezone.now())
        else:
            mine.update(state=JobState.QUEUED, beat_at=timezone.now())
    for job_id in quiet.filter(state=JobState.QUEUED).values_list("pk", flat=True):
        Job.objects.filter(pk=job_id).update(beat_at=timezone.now())
        _enqueue(job_id)


def reap() -> None:
    """What is too old goes, and so does what belongs to no job."""
    before = timezone.now() - timedelta(days=settings.EXPORT_DAYS)
    Job.objects.filter(state__in=ENDED, ended_at__lt=before).delete()
    known = set(Job.objects.values_list("pk", flat=True))
    for place in (*_exports().glob("[!.]*"), *_exports().glob(".new/*"), *_exports().glob(".given/*")):
        abandoned = place.name.partition("-")[0] not in known
        if abandoned and place.stat().st_mtime < time.time() - STALE.total_seconds():
            _remove(place)


def folder(job_id: str) -> Path:
    return _exports() / job_id


def draft(job: Job) -> Path:
    return _exports() / ".new" / f"{job.pk}-{job.attempt}"


def given(job_id: str) -> Path:
    return _exports() / ".given" / job_id


def results(job: Job) -> list[Path]:
    """The files of a job that is done, its result first."""
    if job.state != JobState.DONE or not folder(job.pk).is_dir():
        return []
    return sorted(folder(job.pk).iterdir(), key=lambda path: (path.name != job.result, path.name))


class JobProgress:
    """Written down now and then. Both methods raise Cancelled when the job is not wanted, or is another worker's."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._done = 0
        self._written = 0.0

    def expect(self, total: int, detail: str = "") -> None:
        self._done = 0
        self._write(total=total, detail=detail)

    def advance(self, by: int = 1) -> None:
        self._done += by
        if time.monotonic() - self._written >= WRITTEN_EVERY:
            self._write()

    def _write(self, **columns: Any) -> None:
        self._written = time.monotonic()
        if not _still(self._job).filter(cancelled=False).update(done=self._done, **columns):
            raise Cancelled("Cancelled.")


def _outcome(job: Job, work: Work) -> tuple[JobState, str, str]:
    """State, result, and what to say of it."""
    try:
        return JobState.DONE, work(job, JobProgress(job)), ""
    except Cancelled:
        return JobState.CANCELLED, "", ""
    except TraceError as error:
        return JobState.FAILED, "", str(error)
    except Exception:
        log.exception("job %s (%s)", job.pk, job.kind)
        return JobState.FAILED, "", "Something went wrong here, not with what you asked for; the log says what."


def _end(job: Job, state: JobState, result: str, detail: str) -> None:
    sizes = [path.stat().st_size for path in draft(job).iterdir()]
    columns = {"state": state, "result": result, "detail": detail, "size": sum(sizes), "ended_at": timezone.now()}
    with transaction.atomic():
        if not _still(job).update(**columns):
            return
        if state == JobState.DONE:
            draft(job).rename(folder(job.pk))
    given(job.pk).unlink(missing_ok=True)


def _still(job: Job) -> QuerySet[Job]:
    """The row, as long as this attempt counts."""
    return Job.objects.filter(pk=job.pk, state=JobState.RUNNING, attempt=job.attempt)


def _exports() -> Path:
    return Path(settings.EXPORTS)


def _remove(place: Path) -> None:
    if place.is_dir():
        shutil.rmtree(place, ignore_errors=True)
    else:
        place.unlink(missing_ok=True)


@contextmanager
def _heard(job: Job) -> Iterator[None]:
    """Says beside the work that its worker is alive."""
    over = threading.Event()
    beating = threading.Thread(target=_beat, args=(job, over), name=f"job {job.pk}", daemon=True)
    beating.start()
    try:
        yield
    finally:
        over.set()
        beating.join()


def _beat(job: Job, over: threading.Event) -> None:
    try:
        while not over.wait(BEAT):
            try:
                _still(job).update(beat_at=timezone.now())
            except DatabaseError:
                continue
    finally:
        connection.close()


def _enqueue(job_id: str) -> None:
    """A hint: a lost one costs a minute, for heal sends another."""
    from . import tasks

    try:
        tasks.work.apply_async((job_id,), queue="agents", retry=False)
    except (OSError, OperationalError) as error:
        log.warning("job %s waits to be healed: %s", job_id, error)
