"""Pictures of traces that are over take less room, and are the same to everybody who looks."""

import io
import time
import zipfile
from pathlib import Path

import pytest
from django.utils import timezone
from PIL import Image, ImageDraw

from traces import packing
from traces.blobs import BlobStore
from traces.errors import Damaged
from traces.events import Actor, Kind, Recorder
from traces.export.base import Silent
from traces.export.zip import ZipExporter
from traces.importing import take_in
from traces.material import StoredMaterial
from traces.models import Blob, Reference, Trace
from traces.payloads import Sha256
from traces.queries import stored
from traces.storage import collect

WEBP = "image/webp"


def screen(number: int) -> bytes:
    """Worth packing: written in a hurry, with much that repeats."""
    image = Image.new("RGB", (320, 200), "#f7f7f5")
    pen = ImageDraw.Draw(image)
    for line in range(0, 200, 12):
        pen.text((4 + line // 9, line), f"{number} The lamps left our store this morning {line}", fill="#1b1c1a")
    out = io.BytesIO()
    image.save(out, "webp", lossless=True, method=0)
    return out.getvalue()


def pixels(data: bytes) -> bytes:
    return Image.open(io.BytesIO(data)).convert("RGB").tobytes()


@pytest.fixture
def shown(recorder: Recorder, trace: Trace) -> Sha256:
    """A picture of a trace that is over."""
    sha256 = recorder.picture(screen(1), WEBP, 320, 200)
    recorder.event(Kind.OBSERVATION, Actor.SYSTEM, {}, pictures=[sha256], after=sha256)
    Trace.objects.filter(pk=trace.pk).update(ended_at=timezone.now())
    return sha256


def test_it_shows_the_same_in_fewer_bytes(store: BlobStore, trace: Trace, shown: Sha256) -> None:
    before = Trace.objects.get(pk=trace.pk).bytes
    done = packing.pack(seconds=9, store=store)
    assert (done.pictures, done.saved > 0) == (1, True)
    assert pixels(stored(shown, store).data) == pixels(screen(1))
    assert Blob.objects.get(pk=shown).size < len(screen(1))
    assert Trace.objects.get(pk=trace.pk).bytes == before - done.saved
    assert packing.pack(seconds=9, store=store).pictures == 0, "it is packed once"


def test_it_leaves_a_run_that_goes_on_alone(store: BlobStore, trace: Trace, shown: Sha256) -> None:
    Trace.objects.filter(pk=trace.pk).update(ended_at=None)
    assert packing.pack(seconds=9, store=store).pictures == 0
    assert stored(shown, store).data == screen(1)


def test_a_picture_that_is_a_file_as_well_stays_as_it_is(store: BlobStore, recorder: Recorder, shown: Sha256) -> None:
    recorder.file(name="screen.webp", path="/tmp/screen.webp", direction="in", sha256=shown)
    assert packing.pack(seconds=9, store=store).pictures == 0
    assert stored(shown, store).data == screen(1)


def test_what_is_given_again_while_it_is_packed_stays_too(store: BlobStore, shown: Sha256) -> None:
    began = time.time()
    store.add(screen(1), WEBP)
    store.pack(shown, WEBP, packing.smaller(screen(1)), began - 1)
    assert store.path_of(shown, WEBP).read_bytes() == screen(1)
    assert store.read(shown, WEBP) == screen(1)


def test_it_notices_damage(store: BlobStore, shown: Sha256) -> None:
    packing.pack(seconds=9, store=store)
    packed = store.path_of(shown, WEBP).with_suffix(".pack")
    packed.write_bytes(packed.read_bytes()[:-1] + b"?")
    with pytest.raises(Damaged):
        store.read(shown, WEBP)


def test_it_is_swept_away_with_its_trace(store: BlobStore, shown: Sha256) -> None:
    packing.pack(seconds=9, store=store)
    Reference.objects.all().delete()
    assert collect(store, grace=-1).files == 1
    with pytest.raises(Damaged):
        store.read(shown, WEBP)


def test_a_bundle_of_it_opens_elsewhere(store: BlobStore, trace: Trace, shown: Sha256, tmp_path: Path) -> None:
    packing.pack(seconds=9, store=store)
    bundle = tmp_path / "bundle.zip"
    ZipExporter().write(StoredMaterial(trace, store=store), bundle, Silent())
    with zipfile.ZipFile(bundle) as packed:
        assert [name for name in packed.namelist() if name.endswith(".webp")] != [f"blobs/{shown}.webp"]
    other = BlobStore(tmp_path / "other")
    copy = take_in(bundle, trace.owner, Silent(), other)
    (after,) = (event.after for event in copy.events.exclude(after=""))
    assert pixels(stored(Sha256(after), other).data) == pixels(screen(1))


def test_what_cannot_become_smaller_stays_as_it_is() -> None:
    out = io.BytesIO()
    Image.effect_noise((64, 64), 90).convert("RGB").save(out, "webp", quality=20)
    assert packing.smaller(out.getvalue()) == out.getvalue()
