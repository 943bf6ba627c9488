"""The only sender on the channel layer for traces. A message says "look again"; the truth is in the database."""

import asyncio
import logging
from typing import Literal, TypedDict

from channels.layers import get_channel_layer
from django.db import transaction
from redis import RedisError

from . import beside

log = logging.getLogger(__name__)

PATIENCE = 1.0
"""Seconds that a writer waits for a Redis that hangs."""


class TraceChanged(TypedDict):
    """`seq` is the number of the event that was added or closed."""

    type: Literal["trace.changed"]
    id: str
    seq: int


def trace_group(trace_id: str) -> str:
    return f"trace.{trace_id}"


def trace_changed(trace_id: str, seq: int) -> None:
    transaction.on_commit(lambda: _send({"type": "trace.changed", "id": trace_id, "seq": seq}))


def _send(message: TraceChanged) -> None:
    try:
        beside.run(_hint(message))
    except (OSError, RedisError) as error:
        log.warning("hint for trace %s not sent: %s", message["id"], error or type(error).__name__)


async def _hint(message: TraceChanged) -> None:
    layer = get_channel_layer()
    assert layer is not None
    await asyncio.wait_for(layer.group_send(trace_group(message["id"]), dict(message)), PATIENCE)
