"""The only sender on the channel layer for machines. A message says "look again"; the truth is in the database."""

import logging
from collections.abc import Iterable
from typing import Literal, TypedDict

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction
from redis import RedisError

from .models import Lease, Machine

log = logging.getLogger(__name__)


class MachineChanged(TypedDict):
    type: Literal["machine.changed"]
    id: str


class LeaseChanged(TypedDict):
    """Who drives now, so that the one who does not any more knows at once."""

    type: Literal["lease.changed"]
    id: str
    holder: str
    epoch: int


def machine_group(machine_id: str) -> str:
    return f"machine.{machine_id}"


def owner_group(owner_id: int) -> str:
    return f"machines.owner.{owner_id}"


STAFF_GROUP = "machines.staff"


def machine_changed(machine: Machine) -> None:
    groups = machine_group(machine.pk), owner_group(machine.owner_id), STAFF_GROUP
    transaction.on_commit(lambda: _send({"type": "machine.changed", "id": machine.pk}, groups))


def lease_changed(lease: Lease) -> None:
    message: LeaseChanged = {
        "type": "lease.changed",
        "id": lease.machine_id,
        "holder": lease.holder,
        "epoch": lease.epoch,
    }
    transaction.on_commit(lambda: _send(message, (machine_group(lease.machine_id),)))


def _send(message: MachineChanged | LeaseChanged, groups: Iterable[str]) -> None:
    layer = get_channel_layer()
    assert layer is not None
    try:
        for group in groups:
            async_to_sync(layer.group_send)(group, dict(message))
    except (OSError, RedisError) as error:
        log.warning("hint for machine %s not sent: %s", message["id"], error)
