import io
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from traces.blobs import BlobStore
from traces.copies import Copier, events_in
from traces.export.base import Scope
from traces.hiding import Hider
from traces.models import Blob, Event, Reference, Trace
from traces.payloads import EventId, Sha256
from traces.pictures import INK, Masked
from traces.queries import path_events, stored
from traces.safe import Redaction
from traces.steps import steps_of

from .conftest import RecorderOf
from .copying import MAIL, SIZE, WORD, masks_everything_after_the_start, step, story

pytestmark = pytest.mark.django_db

Copied = Callable[..., Trace]


@pytest.fixture
def copied(trace: Trace, store: BlobStore, recorder_of: RecorderOf) -> Copied:
    story(recorder_of)

    def make(scope: Scope | None = None, *, words: tuple[str, ...] = (WORD,), **more: object) -> Trace:
        chosen: dict[str, object] = {"mask": masks_everything_after_the_start, **more}
        redaction = Redaction(Hider(words), **chosen)  # type: ignore[arg-type]
        return Copier(trace, scope or Scope(), redaction, blobs=store).make()

    return make


def told(trace: Trace) -> str:
    return repr([trace.title, trace.meta, list(Event.objects.filter(trace=trace).values())])


def test_it_copies_the_whole_story_and_leaves_its_source_alone(copied: Copied, trace: Trace) -> None:
    before = told(trace)
    copy = copied()
    assert told(trace) == before
    assert copy.copy_of == trace.pk
    trace.refresh_from_db()
    for name in ("next_seq", "steps", "tokens", "cost", "state"):
        assert getattr(copy, name) == getattr(trace, name)
    shapes = [list(each.events.order_by("seq").values_list("seq", "branch", "kind", "fate")) for each in (trace, copy)]
    assert shapes[0] == shapes[1]
    parents = [list(each.events.order_by("seq").values_list("parent__seq", flat=True)) for each in (trace, copy)]
    assert parents[0] == parents[1]
    assert not set(copy.events.values_list("pk", flat=True)) & set(trace.events.values_list("pk", flat=True))


def test_it_hides_words_and_addresses_and_says_how_many(copied: Copied) -> None:
    copy = copied()
    assert WORD not in told(copy)
    assert MAIL not in told(copy)
    assert copy.meta["hidden"] == {"words": 7, "mails": 4, "pictures": 3, "files": 1}


def test_it_leaves_the_providers_own_words_out(copied: Copied) -> None:
    assert list(copied().events.exclude(raw=None)) == []


def test_it_burns_masks_into_new_pictures_and_shares_the_others(copied: Copied, store: BlobStore, trace: Trace) -> None:
    copy = copied()
    mine, theirs = (set(each.references.values_list("blob_id", flat=True)) for each in (copy, trace))
    assert len(mine & theirs) == 1
    for sha256 in mine - theirs:
        with Image.open(io.BytesIO(stored(Sha256(sha256), store).data)) as picture:
            pixels = np.asarray(picture.convert("RGB"))
        assert (pixels[80:] == INK).all()
        assert Blob.objects.get(pk=sha256).width == SIZE[0]
    named = {sha for event in copy.events.all() for sha in (event.before, event.after) if sha}
    assert named <= mine


def test_it_hides_a_rectangle_in_every_picture(copied: Copied, store: BlobStore) -> None:
    copy = copied(mask=Masked, parts=[(0.5, 0, 0.5, 0.25)])
    for reference in copy.references.all():
        with Image.open(io.BytesIO(stored(Sha256(reference.blob_id), store).data)) as picture:
            pixels = np.asarray(picture.convert("RGB"))
        assert (pixels[:50, 160:] == INK).all()
        assert not (pixels[:, :160] == INK).all(axis=-1).any()


def test_it_takes_files_along_only_when_told_and_then_without_the_word(copied: Copied, store: BlobStore) -> None:
    without, along = copied(), copied(files=True)
    file = Event.objects.get(trace=along, kind="file")
    assert stored(Sha256(file.data["sha256"]), store).data == b"To [hidden]: hello"
    assert Event.objects.get(trace=without, kind="file").data["sha256"] == ""
    assert "files" not in along.meta["hidden"]


def test_it_leaves_out_a_file_that_cannot_be_cleaned(trace: Trace, recorder_of: RecorderOf, store: BlobStore) -> None:
    recorder = recorder_of()
    sha256 = recorder.blob(b"\xff\xfe\x00" + WORD.encode(), "application/octet-stream")
    recorder.file(name="a.bin", path="/a.bin", direction="out", sha256=sha256)
    copy = Copier(trace, Scope(), Redaction(Hider([WORD]), Masked, files=True), blobs=store).make()
    assert copy.meta["hidden"] == {"files": 1}
    assert not Reference.objects.filter(trace=copy).exists()


def test_it_copies_one_branch_or_a_part_of_it(copied: Copied, trace: Trace) -> None:
    branch = copied(Scope("b1"))
    assert set(branch.events.values_list("branch", flat=True)) == {"main", "b1"}
    seqs = list(trace.events.filter(branch="main", kind="action").order_by("seq").values_list("seq", flat=True))
    part = copied(Scope("main", seqs[1], seqs[1]))
    assert list(part.events.order_by("seq").values_list("kind", "name")) == [
        ("message", "reply"),
        ("action", "left_click"),
    ]
    assert part.events.get(kind="message").parent is None
    assert part.steps == 1


def test_it_refuses_what_is_not_there(copied: Copied, trace: Trace) -> None:
    count = Trace.objects.count()
    for scope in (Scope("nowhere"), Scope("main", 900, 901)):
        with pytest.raises(ValueError, match="There is no"):
            copied(scope)
    assert Trace.objects.count() == count


def test_it_leaves_nothing_behind_when_it_breaks_off(copied: Copied) -> None:
    before = [model.objects.count() for model in (Trace, Event, Reference)]

    def breaks(data: bytes, media_type: str) -> Masked:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copied(mask=breaks)
    assert [model.objects.count() for model in (Trace, Event, Reference)] == before


def test_it_is_still_a_trace_when_its_own_words_are_hidden(copied: Copied) -> None:
    words = ("passed", "Click", "out", "left_click", "main", "reply", "text", "findings", "action")
    copy = copied(words=words)
    last = copy.events.order_by("-seq").first()
    assert last is not None
    shown = [one.sentence for one in steps_of(path_events(copy.pk, EventId(last.pk)))]
    assert any("Clicked" in line for line in shown)
    assert Event.objects.get(trace=copy, kind="verify").data["findings"][0]["outcome"] == "passed"


def test_it_copies_many_events_in_order(trace: Trace, recorder_of: RecorderOf, store: BlobStore) -> None:
    recorder = recorder_of()
    for number in range(120):
        step(recorder, number % 3, turn=number + 1)
    copy = Copier(trace, Scope(), Redaction(Hider([]), Masked), blobs=store).make()
    assert events_in(copy, Scope()) == sorted(copy.events.values_list("pk", flat=True))
    assert copy.events.count() == 240
    assert copy.meta["hidden"] == {}
