import asyncio
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Event as Flag
from typing import Any

import pytest
from channels.layers import get_channel_layer
from django.conf import LazySettings
from django.db import transaction

from traces import lifecycle
from traces.errors import Fenced
from traces.events import Actor, Recorder, Sent
from traces.models import Event, Trace
from traces.publish import trace_group

from .conftest import call, plan

pytestmark = pytest.mark.django_db(transaction=True)


def heard(trace: Trace, count: int, work: Callable[[], object]) -> list[dict[str, Any]]:
    """The first hints that somebody who looks at the trace gets while the work is done."""
    ready = Flag()

    async def listen() -> list[dict[str, Any]]:
        layer = get_channel_layer()
        assert layer is not None
        channel = await layer.new_channel()
        await layer.group_add(trace_group(trace.pk), channel)
        ready.set()
        hints = [await asyncio.wait_for(layer.receive(channel), 10) for _ in range(count)]
        await layer.group_discard(trace_group(trace.pk), channel)
        return hints

    with ThreadPoolExecutor() as pool:
        listener = pool.submit(asyncio.run, listen())
        assert ready.wait(10)
        work()
        return listener.result(10)


def hint(trace: Trace, seq: int) -> dict[str, Any]:
    return {"type": "trace.changed", "id": trace.pk, "seq": seq}


@pytest.mark.usefixtures("redis_url")
def test_it_hints_once_for_each_write(recorder: Recorder, trace: Trace) -> None:
    def work() -> None:
        first, _ = plan(recorder, call("click", 0), call("type", 1))
        recorder.intent(first, "op")
        recorder.done(first, ok=True, text="Clicked.", sent=Sent("Clicked."))
        lifecycle.mark(trace.pk, "succeeded", ended=True)

    assert heard(trace, 4, work) == [hint(trace, seq) for seq in (3, 2, 2, 3)]
    trace.refresh_from_db()
    assert trace.state == "succeeded"
    assert trace.ended_at is not None


@pytest.mark.usefixtures("redis_url")
def test_it_hints_at_nothing_that_was_not_committed(recorder: Recorder, trace: Trace) -> None:
    def work() -> None:
        recorder.message(Actor.HUMAN, "one", turn=0)
        with suppress(Fenced), transaction.atomic():
            lifecycle.mark(trace.pk, "failed")
            raise Fenced("Too late.")
        recorder.message(Actor.HUMAN, "two", turn=0)

    assert heard(trace, 2, work) == [hint(trace, 1), hint(trace, 2)]


def elsewhere(settings: LazySettings, address: Path) -> None:
    layer = {"BACKEND": "godhand_web.layer.Layer", "CONFIG": {"url": f"unix://{address}"}}
    settings.CHANNEL_LAYERS = {"default": layer}


def test_it_goes_on_without_redis(
    recorder: Recorder, settings: LazySettings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere(settings, tmp_path / "nobody.sock")
    recorder.message(Actor.HUMAN, "Make a chart", turn=0)
    assert Event.objects.count() == 1
    assert "hint for trace" in caplog.text


def test_it_does_not_wait_for_a_redis_that_hangs(
    recorder: Recorder, settings: LazySettings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.socket(socket.AF_UNIX) as hung:
        hung.bind(str(tmp_path / "hung.sock"))
        hung.listen()
        elsewhere(settings, tmp_path / "hung.sock")
        recorder.message(Actor.HUMAN, "Make a chart", turn=0)
    assert Event.objects.count() == 1
    assert "hint for trace" in caplog.text
