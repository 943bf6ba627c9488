"""Messages are hints: each names a row, and the row decides whether there is anything to do."""

from celery import shared_task
from kombu.exceptions import OperationalError as BrokerDown

from . import lifecycle, reaper, screenshots

__all__ = ["BrokerDown", "create", "destroy", "reap", "screenshot"]


@shared_task
def create(machine_id: str) -> None:
    lifecycle.create(machine_id)


@shared_task
def destroy(machine_id: str) -> None:
    lifecycle.destroy(machine_id)


@shared_task
def reap() -> None:
    reaper.reap()


@shared_task
def screenshot(machine_id: str, label: str) -> None:
    screenshots.take(machine_id, label)
