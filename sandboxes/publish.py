"""The only sender on the channel layer for machines. A message says "look again"; the truth is in the database."""

import logging
from typing import Literal, TypedDict

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction
from redis import RedisError

from .models import Machine

log = logging.getLogger(__name__)


class MachineChanged(TypedDict):
    type: Literal["machine.changed"]
    id: str


def machine_group(machine_id: str) -> str:
    return f"machine.{machine_id}"


def owner_group(owner_id: int) -> str:
    return f"machines.owner.{owner_id}"


STAFF_GROUP = "machines.staff"


def machine_changed(machine: Machine) -> None:
    transaction.on_commit(lambda: _send(machine.pk, machine.owner_id))


def _send(machine_id: str, owner_id: int) -> None:
    layer = get_channel_layer()
    assert layer is not None
    message: MachineChanged = {"type": "machine.changed", "id": machine_id}
    try:
        for group in (machine_group(machine_id), owner_group(owner_id), STAFF_GROUP):
            async_to_sync(layer.group_send)(group, dict(message))
    except (OSError, RedisError) as error:
        log.warning("hint for machine %s not sent: %s", machine_id, error)
