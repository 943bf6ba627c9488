from celery import shared_task

from . import tours


@shared_task
def tour(machine_id: str) -> None:
    tours.run(machine_id)
