"""Messages are hints: each names a row, and the row decides whether there is anything to do."""

from celery import shared_task

from . import runner, tours


@shared_task
def drive(branch_id: str) -> None:
    runner.drive(branch_id)


@shared_task
def reconcile() -> None:
    runner.reconcile()


@shared_task
def tour(machine_id: str) -> None:
    tours.run(machine_id)
