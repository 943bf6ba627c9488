from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import LazySettings
from django.utils import timezone

from agents import removal
from agents.models import Attachment, Branch, Run, State, Task
from godhand_web.models import User
from traces import lifecycle, retention, shares
from traces.blobs import BlobStore
from traces.copies import Copier
from traces.events import Actor
from traces.export.base import Scope
from traces.hiding import Hider
from traces.models import Blob, Event, Share, Trace
from traces.payloads import Sha256
from traces.pictures import Masked
from traces.recorder import DatabaseRecorder
from traces.retention import Policy, Space
from traces.safe import Redaction
from traces.storage import collect, default_store

from .conftest import picture

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url", "home")]

SIZES = {colour: len(picture(colour)) for colour in ("red", "green", "blue")}


@pytest.fixture
def home(settings: LazySettings, tmp_path: Path) -> Path:
    settings.HOST = SimpleNamespace(home=tmp_path)
    return tmp_path


def traced(owner: User, *colours: str, days_ago: int | None = 1, file: bytes = b"") -> Trace:
    """A trace that has seen these colours, and ended so many days ago; None: it goes on."""
    trace = lifecycle.begin(owner, title=" ".join(colours) or "nothing", meta={})
    recorder = DatabaseRecorder(trace, "main", lambda: None, None)
    recorder.message(Actor.HUMAN, "Go.", turn=0, name="goal")
    for colour in colours:
        sha256 = recorder.picture(picture(colour), "image/webp", 40, 30)
        recorder.message(Actor.SYSTEM, colour, turn=0, parts=[{"picture": sha256}])
    if file:
        recorder.file(name="f", path="/f", direction="out", sha256=recorder.blob(file, "text/plain"))
    if days_ago is not None:
        Trace.objects.filter(pk=trace.pk).update(ended_at=timezone.now() - timedelta(days=days_ago))
    trace.refresh_from_db()
    return trace


def stored_files(store: BlobStore) -> int:
    return len([path for path in store._files() if path.is_file()])


def run_of(trace: Trace, state: State = State.SUCCEEDED) -> Run:
    task = Task.objects.create(owner=trace.owner, goal="Go.", image="desktop", provider="scripted")
    run = Run.objects.create(task=task, trace=trace, state=state)
    Branch.objects.create(run=run, state=state)
    return run


def test_it_says_apart_what_is_a_traces_own_and_what_others_need_too(owner: User, stranger: User) -> None:
    one, other, foreign = traced(owner, "red", "blue"), traced(owner, "red"), traced(stranger, "green")
    assert retention.spaces([one.pk, other.pk, foreign.pk]) == {
        one.pk: Space(SIZES["blue"], SIZES["red"]),
        other.pk: Space(0, SIZES["red"]),
        foreign.pk: Space(SIZES["green"], 0),
    }
    assert retention.used_by(owner) == SIZES["red"] + SIZES["blue"]
    assert retention.used_by(stranger) == SIZES["green"]
    assert retention.freed_by([one.pk, other.pk]) == SIZES["red"] + SIZES["blue"]
    assert retention.freed_by([other.pk]) == 0


def test_it_lets_nothing_go_unless_told(owner: User) -> None:
    traced(owner, "red", days_ago=4000)
    assert retention.going(Policy()) == []


def test_it_previews_what_would_go_and_changes_nothing(owner: User, stranger: User) -> None:
    old, older = traced(owner, "red", days_ago=40), traced(stranger, "red", "blue", days_ago=100)
    traced(owner, "green", days_ago=3)
    policy = Policy(traces=90, pictures=30)
    found = retention.going(policy)
    assert [(each.trace, each.what, each.size) for each in found] == [
        (older, "trace", SIZES["blue"]),
        (old, "pictures", 0),
    ]
    assert [each.trace for each in retention.going(policy, owner)] == [old]
    assert retention.going(policy) == found


@pytest.mark.parametrize("why", ["kept", "runs", "link"])
def test_it_lets_nothing_go_that_somebody_needs(owner: User, why: str) -> None:
    trace = traced(owner, "red", days_ago=100 if why != "runs" else None)
    if why == "kept":
        retention.keep(trace, True)
    elif why == "link":
        share = shares.draft(owner, trace, Scope())
        shares.issue(share, timezone.now() + timedelta(days=1))
    assert retention.going(Policy(traces=1, pictures=1)) == []


def test_it_takes_pictures_and_leaves_the_story(owner: User, home: Path) -> None:
    trace = traced(owner, "red", file=b"hello", days_ago=40)
    retention.sweep(Policy(pictures=30), removal.delete_trace)
    trace.refresh_from_db()
    assert "pictures_gone" in trace.meta
    assert trace.bytes == 5
    assert trace.events.count() == 3
    collect(default_store(), grace=0)
    assert list(Blob.objects.values_list("media_type", flat=True)) == ["text/plain"]
    assert retention.going(Policy(pictures=30)) == []


def test_it_gives_the_room_of_a_deleted_trace_back(owner: User, home: Path) -> None:
    trace, other = traced(owner, "red", "blue", file=b"hello"), traced(owner, "red")
    run = run_of(trace)
    Attachment.objects.create(task=run.task, name="a", sha256="ab" * 32, media_type="text/plain", size=1)
    (home / "references" / run.task_id).mkdir(parents=True)
    assert removal.delete_trace(trace) == SIZES["blue"] + 5
    assert list(Trace.objects.all()) == [other]
    assert not Run.objects.exists()
    assert not Task.objects.exists()
    assert not (home / "references" / run.task_id).exists()
    assert set(Event.objects.values_list("trace", flat=True)) == {other.pk}
    assert collect(default_store(), grace=0).files == 2
    assert stored_files(default_store()) == 1


def test_it_keeps_a_task_that_has_other_runs(owner: User) -> None:
    run, trace = run_of(traced(owner, "red")), traced(owner, "blue")
    Run.objects.create(task=run.task, trace=trace, state=State.FAILED)
    removal.delete_trace(trace)
    assert Task.objects.get().runs.get() == run


@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING, State.PAUSED, State.NEEDS_HELP])
def test_it_deletes_no_trace_of_a_run_that_goes_on(owner: User, state: State) -> None:
    trace = traced(owner, "red")
    run_of(trace, state)
    with pytest.raises(removal.StillRunning, match="cancel it first"):
        removal.delete_trace(trace)
    assert Trace.objects.filter(pk=trace.pk).exists()


def test_it_ends_the_links_of_a_deleted_trace(owner: User) -> None:
    trace = traced(owner, "red")
    share = shares.draft(owner, trace, Scope())
    shares.fill(share, Redaction(Hider([]), Masked))
    token = shares.issue(share, timezone.now() + timedelta(days=1))
    assert removal.freed_by(trace) == SIZES["red"]
    removal.delete_trace(trace)
    assert token
    assert shares.open_by(token) is None
    assert not Trace.objects.exists()
    assert Share.objects.get().revoked_at is not None


def test_it_sweeps_copies_of_links_that_have_ended(owner: User) -> None:
    trace = traced(owner, "red")
    share = shares.draft(owner, trace, Scope())
    copy = shares.fill(share, Redaction(Hider([]), Masked))
    removal.tidy()
    assert Trace.objects.filter(pk=copy.pk).exists()
    Share.objects.update(expires_at=timezone.now())
    assert [(each.trace, each.what) for each in retention.going(Policy())] == [(copy, "link")]
    removal.tidy()
    assert list(Trace.objects.all()) == [trace]


def test_it_deletes_what_is_too_old_with_its_run(owner: User, settings: LazySettings) -> None:
    settings.TRACE_DAYS, settings.PICTURE_DAYS = 30, 0
    run_of(traced(owner, "red", days_ago=31))
    fresh = traced(owner, "blue", days_ago=29)
    removal.tidy()
    assert list(Trace.objects.all()) == [fresh]


def test_it_counts_a_picture_that_a_copy_shares_as_shared(owner: User) -> None:
    trace = traced(owner, "red")
    copy = Copier(trace, Scope(), Redaction(Hider([]), Masked)).make()
    assert retention.spaces([trace.pk]) == {trace.pk: Space(0, SIZES["red"])}
    assert Sha256(copy.references.get().blob_id) == trace.references.get().blob_id
