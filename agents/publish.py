"""The only sender on the channel layer for runs. A message says "look again"; the truth is in the database."""

import asyncio
import logging
from typing import Literal, TypedDict

from channels.layers import get_channel_layer
from django.db import transaction
from redis import RedisError

from traces import beside
from traces.publish import PATIENCE

from .models import Run

log = logging.getLogger(__name__)

STAFF_GROUP = "runs.staff"


class RunChanged(TypedDict):
    type: Literal["run.changed"]
    id: str


def owner_group(owner_id: int) -> str:
    return f"runs.owner.{owner_id}"


def run_changed(run: Run) -> None:
    """It has another state now: for lists. Its steps are told by its trace."""
    transaction.on_commit(lambda: _send(run.pk, run.task.owner_id))


def _send(run_id: str, owner_id: int) -> None:
    try:
        beside.run(_hint({"type": "run.changed", "id": run_id}, owner_id))
    except (OSError, RedisError) as error:
        log.warning("hint for run %s not sent: %s", run_id, error or type(error).__name__)


async def _hint(message: RunChanged, owner_id: int) -> None:
    layer = get_channel_layer()
    assert layer is not None
    async with asyncio.timeout(PATIENCE):
        for group in (owner_group(owner_id), STAFF_GROUP):
            await layer.group_send(group, dict(message))
