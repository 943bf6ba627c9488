"""Messages are hints: each names a row, and the row decides whether there is anything to do."""

from celery import shared_task

from . import exploring, giveback, places, reading, removal, runner, saving, thinning


@shared_task
def drive(branch_id: str) -> None:
    runner.drive(branch_id)


@shared_task
def reconcile() -> None:
    giveback.sweep()
    runner.reconcile()
    exploring.reconcile()


@shared_task
def advance(run_id: str) -> None:
    exploring.advance(run_id)


@shared_task
def tidy() -> None:
    removal.tidy()
    places.forget_losers()
    thinning.thin_ended()


@shared_task
def save(branch_id: str) -> None:
    saving.save(branch_id)


@shared_task
def read_screens(trace_id: str) -> None:
    reading.work(trace_id)


@shared_task
def read_leftovers() -> None:
    reading.leftovers()
