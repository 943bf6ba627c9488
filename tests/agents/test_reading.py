"""The screens of a trace are read, so that what was on them can be found. The reader is the real one."""

import io
import stat
from pathlib import Path

import pytest
from django.utils import timezone
from PIL import Image, ImageDraw, ImageFont
from redis import Redis

from agents import ocr, reading
from godhand_web.models import User
from traces import lifecycle, screens
from traces.events import Recorder
from traces.models import Blob, Trace
from traces.payloads import Sha256
from traces.recorder import DatabaseRecorder
from traces.search import search
from traces.storage import default_store

pytestmark = pytest.mark.django_db

SIZE = (420, 240)


@pytest.fixture
def trace(owner: User) -> Trace:
    return lifecycle.begin(owner, title="Read me", meta={})


@pytest.fixture
def recorder(trace: Trace) -> Recorder:
    return DatabaseRecorder(trace, "main", lambda: None, None)


def screen(*lines: str) -> bytes:
    picture = Image.new("RGB", SIZE, "white")
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(22)
    for number, line in enumerate(lines):
        pen.text((20, 20 + 60 * number), line, fill="black", font=font)
    out = io.BytesIO()
    picture.save(out, "webp", lossless=True)
    return out.getvalue()


def show(recorder: Recorder, *lines: str) -> Sha256:
    sha256 = recorder.picture(screen(*lines), "image/webp", *SIZE)
    recorder.verify([], "step", picture=sha256)
    return sha256


def text_of(sha256: Sha256) -> str:
    read = screens.screen_text(sha256)
    assert read is not None
    return read.text


def test_it_reads_every_screen_once(recorder: Recorder, trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = show(recorder, "Invoice 4711"), show(recorder, "Invoice 4711", "Paid in Hamburg")
    assert reading.read(trace.pk) == 0
    assert text_of(first) == "Invoice 4711"
    assert text_of(second).splitlines() == ["Invoice 4711", "Paid in Hamburg"]
    assert search(trace.pk, 'text:"invoice 4711"').count == 2
    assert search(trace.pk, "hamburg").count == 1
    monkeypatch.setattr(ocr, "read", None)
    assert reading.read(trace.pk) == 0


def test_it_says_where_each_text_is(recorder: Recorder, trace: Trace) -> None:
    shown = show(recorder, "Top", "Bottom")
    reading.read(trace.pk)
    read = screens.screen_text(shown)
    assert read is not None
    (top, *upper), (bottom, *lower) = read.spots
    assert (top, bottom) == ("Top", "Bottom")
    assert abs(upper[0] - 20) < 12
    assert abs(lower[1] - upper[1] - 60) < 12


def test_it_begins_with_the_newest_and_stops_in_time(recorder: Recorder, trace: Trace) -> None:
    old, new = show(recorder, "Older"), show(recorder, "Newer")
    assert screens.unread(trace.pk) == [new, old]
    assert reading.read(trace.pk, seconds=0) == 1
    assert (text_of(new), screens.screen_text(old)) == ("Newer", None)


def test_it_reads_a_screen_of_two_traces_once(recorder: Recorder, trace: Trace, owner: User) -> None:
    shown = show(recorder, "Shared")
    other = lifecycle.begin(owner, title="Other", meta={})
    assert show(DatabaseRecorder(other, "main", lambda: None, None), "Shared") == shown
    reading.read(trace.pk)
    assert screens.unread(other.pk) == []


def test_it_hides_secrets(recorder: Recorder, trace: Trace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "Zebra-Honey-42")
    shown = show(recorder, "token Zebra-Honey-42 here")
    reading.read(trace.pk)
    assert "Honey" not in text_of(shown)
    assert "token" in text_of(shown)


def test_it_goes_on_after_a_picture_that_is_damaged(recorder: Recorder, trace: Trace) -> None:
    fine, damaged = show(recorder, "Fine"), show(recorder, "Damaged")
    default_store().path_of(damaged, "image/webp").write_bytes(b"?")
    Blob.objects.filter(pk=damaged).update(media_type="image/webp")
    assert reading.read(trace.pk) == 0
    assert (text_of(fine), text_of(damaged)) == ("Fine", "")
    assert screens.unread(trace.pk) == []


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Programs that are to give way are written down instead."""
    nice, argv = tmp_path / "nice", tmp_path / "argv"
    nice.write_text(f'#!/bin/sh\necho "$@" >>{argv}\n')
    nice.chmod(nice.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    argv.touch()
    return argv


def queued(redis_url: str) -> int:
    with Redis.from_url(redis_url) as redis:
        return int(redis.llen("agents"))


def test_it_reads_apart_from_the_runs_and_asks_again_for_the_rest(
    recorder: Recorder, trace: Trace, told: Path, redis_url: str
) -> None:
    show(recorder, "Much")
    before = queued(redis_url)
    reading.work(trace.pk)
    assert told.read_text().split()[-3:] == ["django", "readscreens", trace.pk]
    assert queued(redis_url) == before + 1


def test_it_asks_no_more_when_all_is_read(recorder: Recorder, trace: Trace, told: Path, redis_url: str) -> None:
    before = queued(redis_url)
    reading.work(trace.pk)
    assert told.read_text() == ""
    assert queued(redis_url) == before


def test_it_reads_one_trace_at_a_time(recorder: Recorder, trace: Trace, told: Path, redis_url: str) -> None:
    show(recorder, "Much")
    with reading._alone() as first:
        assert first
        reading.work(trace.pk)
    assert told.read_text() == ""


def test_it_finds_runs_that_have_ended(recorder: Recorder, trace: Trace, owner: User, told: Path) -> None:
    show(recorder, "Much")
    reading.leftovers()
    assert told.read_text() == ""
    Trace.objects.filter(pk=trace.pk).update(ended_at=timezone.now())
    read_already = lifecycle.begin(owner, title="Nothing to see", meta={})
    Trace.objects.filter(pk=read_already.pk).update(ended_at=timezone.now())
    reading.leftovers()
    assert told.read_text().split()[-1] == trace.pk
