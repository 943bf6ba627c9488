"""The only sender on the channel layer for machines. A message says "look again"; the truth is in the database."""

import asyncio
import logging
from collections.abc import Iterable
from typing import Literal, TypedDict

from channels.layers import get_channel_layer
from django.db import transaction
from redis import RedisError

from . import beside
from .models import Lease, Machine

log = logging.getLogger(__name__)


class MachineChanged(TypedDict):
    type: Literal["machine.changed"]
    id: str


class LeaseChanged(TypedDict):
    """Who drives now. `lease.changing` comes first, before the new holder may send: who has lost it knows at once."""

    type: Literal["lease.changing", "lease.changed"]
    id: str
    holder: str
    epoch: int


def machine_group(machine_id: str) -> str:
    return f"machine.{machine_id}"


def owner_group(owner_id: int) -> str:
    return f"machines.owner.{owner_id}"


STAFF_GROUP = "machines.staff"
PATIENCE = 1.0
"""Seconds that a change waits for a Redis that hangs."""


def machine_changed(machine: Machine) -> None:
    groups = machine_group(machine.pk), owner_group(machine.owner_id), STAFF_GROUP
    transaction.on_commit(lambda: _send({"type": "machine.changed", "id": machine.pk}, groups))


def lease_changing(lease: Lease) -> None:
    _tell(lease, "lease.changing")


def lease_changed(lease: Lease) -> None:
    _tell(lease, "lease.changed")


def _tell(lease: Lease, what: Literal["lease.changing", "lease.changed"]) -> None:
    message: LeaseChanged = {
        "type": what,
        "id": lease.machine_id,
        "holder": lease.holder,
        "epoch": lease.epoch,
    }
    transaction.on_commit(lambda: _send(message, (machine_group(lease.machine_id),)))


def _send(message: MachineChanged | LeaseChanged, groups: Iterable[str]) -> None:
    try:
        beside.run(_hint(message, groups))
    except (OSError, RedisError) as error:
        log.warning("hint for machine %s not sent: %s", message["id"], error or type(error).__name__)


async def _hint(message: MachineChanged | LeaseChanged, groups: Iterable[str]) -> None:
    layer = get_channel_layer()
    assert layer is not None
    async with asyncio.timeout(PATIENCE):
        for group in groups:
            await layer.group_send(group, dict(message))
