"""Generated traces look like recorded ones, to everything that reads them."""

from typing import Any

import pytest
from django.db.models import F

from godhand_web.models import User
from traces import queries
from traces.blobs import BlobStore
from traces.events import Actor, Change, Finding, Kind, Outcome, Recorder, Sent
from traces.generate import generate
from traces.models import Event, Reference, Trace
from traces.payloads import CallData, EventId, Sha256
from traces.steps import Status, Step, steps_of
from traces.tree import Tree

from .conftest import RecorderOf, call, plan, seen

pytestmark = pytest.mark.django_db

STEPS, BRANCHES, FRAMES = 900, 6, 8


@pytest.fixture
def big(owner: User, store: BlobStore) -> Trace:
    return generate(owner, steps=STEPS, branches=BRANCHES, seed=3, frames=FRAMES, blobs=store)


@pytest.fixture
def steps(big: Trace) -> list[Step]:
    return steps_of(list(queries.all_events(big.pk)))


def test_it_makes_exactly_as_many_steps_and_branches(big: Trace, steps: list[Step]) -> None:
    assert len(steps) == STEPS
    assert len(Tree(queries.nodes(big.pk)).lanes()) == BRANCHES


def test_it_makes_what_people_look_for(steps: list[Step]) -> None:
    assert {step.kind for step in steps} >= {
        Kind.MESSAGE, Kind.ACTION, Kind.OBSERVATION, Kind.VERIFY, Kind.SNAPSHOT, Kind.FILE, Kind.TAKEOVER,
    }  # fmt: skip
    assert {step.status for step in steps} >= {
        Status.OK, Status.FAILED, Status.UNCERTAIN, Status.REFUSED, Status.NEUTRAL,
    }  # fmt: skip
    assert {step.event.name for step in steps} >= {"left_click", "type", "key", "bash", "files", "done"}


def test_it_is_one_story_from_the_root_to_every_head(big: Trace, store: BlobStore) -> None:
    for lane in Tree(queries.nodes(big.pk)).lanes():
        path = queries.path_events(big.pk, lane.last)
        assert path[0].parent is None
        assert path[-1].name == "done"
        assert [event.parent for event in path[1:]] == [event.id for event in path[:-1]]
        times = [event.started_at for event in path if event.started_at]
        assert times == sorted(times)


def test_it_shows_before_a_step_what_was_after_the_last(big: Trace) -> None:
    path = queries.path_events(big.pk, queries.head_of(big.pk, "main") or EventId(0))
    done = [event for event in path if event.before]
    assert [event.before for event in done[1:]] == [event.after for event in done[:-1]]
    changed = [event for event in done if event.before != event.after]
    assert changed
    assert all(event.result["change"]["boxes"] for event in changed)


def test_it_adds_up(big: Trace) -> None:
    events = Event.objects.filter(trace=big)
    assert big.next_seq == events.count() + 1
    assert big.steps == events.filter(kind=Kind.ACTION, started_at__isnull=False).count()
    assert big.tokens == sum(events.values_list("tokens", flat=True)) > 0
    sizes = Reference.objects.filter(trace=big).annotate(size=F("blob__size")).values_list("size", flat=True)
    assert big.bytes == sum(sizes) > 0


def test_it_stores_every_picture(big: Trace, steps: list[Step], store: BlobStore) -> None:
    pictures = {step.after for step in steps if step.after}
    assert 1 < len(pictures) <= FRAMES
    for sha256 in pictures:
        assert queries.stored(sha256, store).width == 1280
        assert queries.names(big.pk, sha256)


def test_it_tells_the_same_story_for_a_seed(owner: User, store: BlobStore) -> None:
    twins = [generate(owner, steps=60, branches=2, seed=9, frames=3, blobs=store) for _ in range(2)]
    first, second = ([step.sentence for step in steps_of(list(queries.all_events(one.pk)))] for one in twins)
    assert first == second


def test_it_wants_enough_steps_for_the_branches(owner: User) -> None:
    with pytest.raises(ValueError, match="8 steps or more"):
        generate(owner, steps=20, branches=10)


def test_it_has_the_shapes_of_what_is_recorded(big: Trace, trace: Trace, recorder_of: RecorderOf) -> None:
    record_all(recorder_of())
    recorded = {shape(event) for event in Event.objects.filter(trace=trace)}
    generated = {shape(event) for event in Event.objects.filter(trace=big)}
    assert generated - recorded == set()


def shape(event: Event) -> Any:
    """What a row is made of, without what it says."""
    values = {field.name: getattr(event, field.attname) for field in Event._meta.concrete_fields}
    odd = {name: values.pop(name) for name in ("id", "trace", "parent", "raw", "name", "act")}
    held = None if event.kind == Kind.ACTION else odd["name"] and "name"
    given = values["data"].pop("input", None) is not None
    return event.kind, event.fate, held, given, odd["act"] is None, keys(values)


def keys(value: Any) -> Any:
    if isinstance(value, dict):
        return frozenset((key, keys(item)) for key, item in value.items())
    if isinstance(value, list):
        return frozenset(keys(item) for item in value)
    return bool(value) if isinstance(value, str) else type(value).__name__


def record_all(recorder: Recorder) -> None:
    """Everything that a generated trace may hold, as the loop and the runner write it."""
    recorder.event(Kind.OBSERVATION, Actor.SYSTEM, {"machine": "k3v9d2m8q1xa"}, name="machine")
    for direction, actor in (("in", Actor.HUMAN), ("out", Actor.AGENT)):
        sha256 = recorder.blob(b"zip", "application/zip")
        recorder.file(name="a.zip", path="/home/agent/a.zip", direction=direction, sha256=sha256, actor=actor)  # type: ignore[arg-type]
    white, red = seen(recorder, "white"), seen(recorder, "red")
    recorder.message(Actor.HUMAN, "Go", turn=0, parts=[{"text": "Go"}, {"picture": white}], name="goal")
    recorder.message(Actor.SYSTEM, "This way", turn=0, name="hint")
    recorder.message(Actor.HUMAN, "Net", turn=0, name="note")
    record_actions(recorder, white, red)
    for outcome in (Outcome.PASSED, Outcome.FAILED):
        first = Finding("one", "file_exists", Outcome.PASSED, "x", "y")
        second = Finding("two", "screen_text", outcome, "x", "y", region=(1, 2, 3, 4), similarity=0.5)
        recorder.verify([first, second], "done", picture=red)
    for label in ("", "before it"):
        recorder.snapshot(snapshot="abc", backend="gvisor", keeps="disk", size=1, ms=1, label=label)
    recorder.event(Kind.TAKEOVER, Actor.HUMAN, {"text": "Took over for 42 s", "seconds": 42}, name="takeover")


def record_actions(recorder: Recorder, before: Sha256, after: Sha256) -> None:
    tool: CallData = {**call("bash"), "toolset": ""}
    endings = [
        {"ok": True, "text": "", "sent": Sent("", after), "change": Change(0.1, [(1, 2, 3, 4)]), "settle_ms": 9},
        {"ok": True, "text": "", "sent": Sent("", before), "change": Change(0.0), "settle_ms": 9},
        {"ok": False, "text": "no", "sent": Sent("no", before, False), "change": Change(0.0), "settle_ms": 9},
        {"ok": True, "text": "", "sent": Sent("", before), "change": Change(0.0)},
        {"ok": True, "text": "4", "sent": Sent("4"), "change": Change(0.0)},
        {"ok": False, "text": "no", "sent": Sent("no", ok=False), "change": Change(0.0)},
    ]
    calls = [call("click")] * 4 + [tool] * 2
    for given, ending in zip(calls, endings, strict=True):
        (action,) = plan(recorder, given)
        recorder.intent(action, "op", {} if given is tool else {"action": "Click"})
        recorder.done(action, before=before, after=after, **ending)  # type: ignore[arg-type]
    refused, unknown = plan(recorder, call("click"), call("click", 1))
    recorder.refused(refused, "no")
    recorder.intent(unknown, "op", {"action": "Click"})
    recorder.uncertain(unknown, "Who knows?", sent=Sent("Who knows?", before, False), after=before)
