"""Messages are hints: each names a row, and the row decides whether there is anything to do.

All but `screenshot` are for the worker of a machine's host, which is root and takes no others.
"""

from celery import shared_task
from kombu.exceptions import OperationalError as BrokerDown

from . import forking, imaging, lifecycle, reaper, screenshots

__all__ = ["AS_ROOT", "BrokerDown", "create", "destroy", "reap", "screenshot"]


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


@shared_task
def make_template(machine_id: str) -> None:
    lifecycle.make_template(machine_id)


@shared_task
def snapshot(machine_id: str, label: str) -> None:
    forking.snapshot(machine_id, label)


@shared_task
def stop(machine_id: str) -> None:
    forking.stop(machine_id)


@shared_task
def restore(machine_id: str, snapshot_id: str) -> None:
    forking.restore(machine_id, snapshot_id)


@shared_task
def delete_snapshot(snapshot_id: str) -> None:
    forking.delete_files(snapshot_id)


@shared_task
def discard_snapshots() -> None:
    forking.discard_unclaimed()


@shared_task
def build_image(name: str) -> None:
    imaging.build(name)


@shared_task
def delete_build(name: str, digest: str) -> None:
    imaging.delete(name, digest)


AS_ROOT = frozenset(
    f"{__name__}.{task}"
    for task in (
        "build_image",
        "create",
        "delete_build",
        "delete_snapshot",
        "destroy",
        "discard_snapshots",
        "make_template",
        "reap",
        "restore",
        "snapshot",
        "stop",
    )
)
