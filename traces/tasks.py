from celery import shared_task

from . import doers, jobs, packing, storage, thumbs

PACKING = 10.0


@shared_task
def collect() -> None:
    """Blobs that no trace names any more, and what was made of them."""
    storage.collect(storage.default_store())
    thumbs.sweep()


@shared_task
def pack() -> None:
    """A little at a time, so that those who work are not kept waiting."""
    packing.pack(seconds=PACKING)


@shared_task
def work(job_id: str) -> None:
    jobs.run(job_id, doers.WORK)


@shared_task
def heal() -> None:
    """Jobs whose worker died, or whose message was lost; and results that are too old."""
    jobs.heal()
    jobs.reap()
