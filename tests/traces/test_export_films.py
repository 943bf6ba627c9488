"""Films are real: ffprobe reads them, and their frames show what was done."""

import json
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from traces.blobs import BlobStore
from traces.errors import Cancelled, NotPossible
from traces.events import Actor
from traces.export.base import Scope, Silent
from traces.export.gif import GifExporter
from traces.export.mp4 import Mp4Exporter
from traces.export.webm import WebmExporter
from traces.material import StoredMaterial
from traces.models import Event, Trace

from .conftest import RecorderOf
from .stories import act, tell


@pytest.fixture
def told(trace: Trace, recorder_of: RecorderOf) -> Trace:
    tell(recorder_of)
    for number, event in enumerate(Event.objects.filter(trace=trace)):
        at = trace.created_at + timedelta(seconds=number * 90)
        Event.objects.filter(pk=event.pk).update(started_at=at, ended_at=at)
    return trace


def probe(path: Path, *entries: str) -> Any:
    argv = ["ffprobe", "-v", "error", "-count_frames", "-of", "json", "-show_entries", ":".join(entries), str(path)]
    return json.loads(subprocess.run(argv, check=True, capture_output=True).stdout)


def frame_at(path: Path, seconds: float, out: Path) -> Image.Image:
    argv = ["ffmpeg", "-v", "error", "-y", "-ss", str(seconds), "-i", str(path), "-frames:v", "1", str(out)]
    subprocess.run(argv, check=True, capture_output=True)
    return Image.open(out).convert("RGB")


def test_it_films_a_branch_without_idle_time(told: Trace, store: BlobStore, tmp_path: Path) -> None:
    out = tmp_path / "Pivot the sheet.mp4"
    Mp4Exporter().write(StoredMaterial(told, Scope("b1"), store=store), out, Silent())
    found = probe(out, "format=duration", "stream=codec_name,width,height,pix_fmt,nb_read_frames")
    (stream,) = found["streams"]
    steps = 9
    assert (stream["codec_name"], stream["pix_fmt"]) == ("h264", "yuv420p")
    assert (stream["width"], stream["height"]) == (320, 236)
    assert float(found["format"]["duration"]) == pytest.approx(2 * steps, abs=0.3)
    assert int(stream["nb_read_frames"]) == 2 * steps * 5


def test_it_draws_where_was_clicked_and_writes_below_what(told: Trace, store: BlobStore, tmp_path: Path) -> None:
    out = tmp_path / "a.mp4"
    Mp4Exporter().write(StoredMaterial(told, Scope("b1"), store=store), out, Silent())
    clicked, after = frame_at(out, 4.4, tmp_path / "a.png"), frame_at(out, 5.4, tmp_path / "b.png")
    red, green, blue = clicked.getpixel((40, 50))  # type: ignore[misc]
    assert (red > 180, green > 120, blue < 110) == (True, True, True), "the middle of the ring is amber"
    assert after.getpixel((40, 50)) != (red, green, blue)
    bar = clicked.crop((40, 206, 300, 236))
    assert bar.convert("L").getextrema()[1] > 180, "the caption is light on dark"  # type: ignore[operator]


def test_it_writes_captions_beside_the_film(told: Trace, store: BlobStore, tmp_path: Path) -> None:
    out = tmp_path / "a.mp4"
    Mp4Exporter().write(StoredMaterial(told, Scope("b1"), store=store), out, Silent())
    captions = out.with_suffix(".vtt").read_text()
    assert captions.startswith("WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n1. Pivot the sheet\n")
    assert "Typed “=SUM(A1:A9)”" in captions
    assert probe(out.with_suffix(".vtt"), "stream=codec_name")["streams"] == [{"codec_name": "webvtt"}]


def test_it_makes_the_same_film_without_patents(told: Trace, store: BlobStore, tmp_path: Path) -> None:
    out = tmp_path / "a.webm"
    WebmExporter().write(StoredMaterial(told, Scope("b1"), store=store), out, Silent())
    found = probe(out, "format=duration,format_name", "stream=codec_name,width,height")
    assert found["streams"] == [{"codec_name": "vp9", "width": 320, "height": 236}]
    assert "webm" in found["format"]["format_name"]
    assert float(found["format"]["duration"]) == pytest.approx(18, abs=0.3)
    assert out.with_suffix(".vtt").exists()


def test_it_makes_a_gif_that_moves(told: Trace, store: BlobStore, tmp_path: Path) -> None:
    out = tmp_path / "a.gif"
    GifExporter().write(StoredMaterial(told, Scope("b1"), store=store), out, Silent())
    found = probe(out, "format=duration", "stream=codec_name,nb_read_frames")
    (stream,) = found["streams"]
    assert stream["codec_name"] == "gif"
    assert int(stream["nb_read_frames"]) >= 9
    assert float(found["format"]["duration"]) == pytest.approx(18, abs=0.5)
    assert list(tmp_path.glob(".frames-*")) == []


def test_a_gif_has_sixty_steps_at_most(trace: Trace, recorder_of: RecorderOf, store: BlobStore, tmp_path: Path) -> None:
    recorder = recorder_of()
    recorder.message(Actor.HUMAN, "Count", turn=0, name="goal")
    for number in range(1, 81):
        act(recorder, number, "Click", x=number, y=9, button=1, count=1)
    GifExporter().write(StoredMaterial(trace, store=store), tmp_path / "a.gif", Silent())
    found = probe(tmp_path / "a.gif", "stream=nb_read_frames,width")
    assert 60 <= int(found["streams"][0]["nb_read_frames"]) <= 121


def test_it_shows_the_branch_whose_checks_passed(told: Trace, store: BlobStore) -> None:
    assert StoredMaterial(told, store=store).best() == "b1"


def test_it_stops_when_nobody_wants_it_any_more(told: Trace, store: BlobStore, tmp_path: Path) -> None:
    class Impatient(Silent):
        def advance(self, by: int = 1) -> None:
            raise Cancelled("Cancelled.")

    for kind, name in ((Mp4Exporter, "a.mp4"), (GifExporter, "a.gif")):
        with pytest.raises(Cancelled):
            kind().write(StoredMaterial(told, store=store), tmp_path / name, Impatient())


def test_it_says_when_there_is_nothing_to_show(
    trace: Trace, recorder_of: RecorderOf, store: BlobStore, tmp_path: Path
) -> None:
    with pytest.raises(NotPossible, match="nothing in this trace"):
        StoredMaterial(trace, store=store)
    recorder_of().message(Actor.HUMAN, "Hello", turn=0, name="goal")
    with pytest.raises(NotPossible, match="no picture"):
        Mp4Exporter().write(StoredMaterial(trace, store=store), tmp_path / "a.mp4", Silent())


def test_it_says_what_is_missing_without_ffmpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert "ffmpeg" in (Mp4Exporter.unavailable_reason() or "")
