import io
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from godhand_web.models import User
from traces import lifecycle
from traces.blobs import BlobStore
from traces.events import Recorder
from traces.models import Trace
from traces.payloads import CallData, EventId, Sha256, UsageData
from traces.recorder import DatabaseRecorder
from traces.redact import Redactor

RecorderOf = Callable[..., Recorder]

USAGE: UsageData = {"input": 100, "output": 20, "cache_read": 3, "cache_write": 0}


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path / "blobs")


@pytest.fixture
def trace(owner: User) -> Trace:
    return lifecycle.begin(owner, title="Pivot the sheet", meta={"model": "scripted"})


@pytest.fixture
def recorder_of(trace: Trace, store: BlobStore) -> RecorderOf:
    def make(
        branch: str = "main",
        head: EventId | None = None,
        guard: Callable[[], None] = lambda: None,
        redactor: Redactor | None = None,
    ) -> Recorder:
        return DatabaseRecorder(trace, branch, guard, head, redactor=redactor, blobs=store)

    return make


@pytest.fixture
def recorder(recorder_of: RecorderOf) -> Recorder:
    return recorder_of()


def call(name: str, number: int = 0, **given: object) -> CallData:
    return {"id": f"call_{number}", "name": name, "input": given, "toolset": "computer"}


def plan(recorder: Recorder, *calls: CallData, turn: int = 1, raw: object = None) -> tuple[EventId, ...]:
    """A reply with these calls; the actions."""
    return recorder.reply(
        raw,
        turn=turn,
        text="I click.",
        reasoning="It is the button.",
        usage=USAGE,
        cost=0.25,
        provider="scripted",
        model="demo",
        calls=calls,
    ).actions


def picture(colour: str, kind: str = "webp") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (40, 30), colour).save(out, kind, lossless=True)
    return out.getvalue()


def seen(recorder: Recorder, colour: str) -> Sha256:
    return recorder.picture(picture(colour), "image/webp", 40, 30)
