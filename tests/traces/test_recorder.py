import pytest

from traces import queries
from traces.blobs import BlobStore
from traces.errors import Closed, Fenced
from traces.events import Actor, Change, Fate, Finding, Kind, Outcome, Recorder, Sent
from traces.models import Event, Trace
from traces.payloads import EventId, Sha256

from .conftest import RecorderOf, call, plan, seen

pytestmark = pytest.mark.django_db


def fate_of(action: EventId) -> str:
    return Event.objects.get(pk=action).fate


def ended(recorder: Recorder, fate: Fate) -> EventId:
    (action,) = plan(recorder, call("click"))
    if fate != Fate.REFUSED:
        recorder.intent(action, "op")
    end(recorder, action, fate)
    return action


def end(recorder: Recorder, action: EventId, fate: Fate) -> None:
    match fate:
        case Fate.INTENT:
            recorder.intent(action, "again")
        case Fate.DONE:
            recorder.done(action, ok=True, text="Clicked.", sent=Sent("Clicked."))
        case Fate.UNCERTAIN:
            recorder.uncertain(action, "It may have happened.")
        case Fate.REFUSED:
            recorder.refused(action, "Not allowed.")


ENDS = (Fate.DONE, Fate.UNCERTAIN, Fate.REFUSED)


def test_it_stores_a_reply_and_its_plan_before_anything_is_done(recorder: Recorder, trace: Trace) -> None:
    recorder.message(Actor.HUMAN, "Make a chart", turn=0, name="goal")
    plan(recorder, call("click", 0, x=1), call("type", 1, text="hi"))
    rows = list(Event.objects.values_list("seq", "kind", "actor", "name", "fate", "turn"))
    assert rows == [
        (1, "message", "human", "goal", "", 0),
        (2, "message", "agent", "reply", "", 1),
        (3, "action", "agent", "click", "planned", 1),
        (4, "action", "agent", "type", "planned", 1),
    ]
    assert [node.parent for node in queries.nodes(trace.pk)][1:] == [node.id for node in queries.nodes(trace.pk)][:-1]


def test_it_leaves_an_action_that_was_begun_and_not_ended_open(recorder: Recorder, trace: Trace) -> None:
    first, second = plan(recorder, call("click", 0), call("type", 1))
    recorder.intent(first, "op-1", {"click": {"x": 640, "y": 400}})
    begun, waiting = queries.events_at(trace.pk, (2, 3))
    assert (begun.fate, begun.op_id, begun.act) == (Fate.INTENT, "op-1", {"click": {"x": 640, "y": 400}})
    assert (begun.id, waiting.id, waiting.fate) == (first, second, Fate.PLANNED)
    assert begun.started_at is not None
    assert begun.ended_at is None
    assert waiting.started_at is None


def test_it_keeps_what_an_action_did(recorder: Recorder, trace: Trace) -> None:
    (action,) = plan(recorder, call("click"))
    recorder.intent(action, "op")
    before, after = seen(recorder, "white"), seen(recorder, "black")
    change = Change(0.25, [(1, 2, 30, 40)])
    sent = Sent("Clicked.", after)
    recorder.done(action, ok=True, text="Clicked.", sent=sent, before=before, after=after, change=change, settle_ms=70)
    (recorded,) = queries.events_at(trace.pk, [2])
    assert (recorded.fate, recorded.ok, recorded.before, recorded.after) == (Fate.DONE, True, before, after)
    assert recorded.result["sent"] == {"text": "Clicked.", "picture": after, "ok": True}
    assert recorded.result["change"] == {"ratio": 0.25, "boxes": [[1, 2, 30, 40]]}
    assert recorded.result["took_ms"] >= 0


@pytest.mark.parametrize("first", ENDS)
@pytest.mark.parametrize("second", [Fate.INTENT, *ENDS])
def test_it_refuses_to_end_an_action_twice(recorder: Recorder, trace: Trace, first: Fate, second: Fate) -> None:
    action = ended(recorder, first)
    revision = Trace.objects.get().revision
    with pytest.raises(Closed, match=rf"Action 2 is {first}, and cannot become {second}\."):
        end(recorder, action, second)
    assert fate_of(action) == first
    assert Trace.objects.get().revision == revision


@pytest.mark.parametrize("fate", [Fate.DONE, Fate.UNCERTAIN])
def test_it_knows_no_act_without_an_intent(recorder: Recorder, fate: Fate) -> None:
    (action,) = plan(recorder, call("click"))
    with pytest.raises(Closed, match=rf"is planned, and cannot become {fate}"):
        end(recorder, action, fate)


def test_it_never_edits_an_event(recorder: Recorder) -> None:
    recorder.message(Actor.HUMAN, "Make a chart", turn=0)
    event = Event.objects.get()
    event.name = "other"
    with pytest.raises(Closed, match="never edited"):
        event.save()


def test_it_ends_only_actions_of_its_own_branch(recorder: Recorder, recorder_of: RecorderOf) -> None:
    (action,) = plan(recorder, call("click"))
    other = recorder_of("other", recorder.head)
    with pytest.raises(Closed, match="no such action on this branch"):
        other.intent(action, "op")
    message = other.message(Actor.HUMAN, "Try again", turn=1)
    with pytest.raises(Closed, match="cannot become intent"):
        other.intent(message, "op")


def test_it_writes_nothing_once_it_is_fenced(recorder_of: RecorderOf, trace: Trace) -> None:
    Trace.objects.update(state="mine")

    def guard() -> None:
        if not Trace.objects.filter(pk=trace.pk, state="mine").update(state="mine"):
            raise Fenced("Another worker has this run.")

    recorder = recorder_of(guard=guard)
    (action,) = plan(recorder, call("click"))
    Trace.objects.update(state="theirs")
    before = list(Event.objects.values()), list(Trace.objects.values())
    picture = seen(recorder, "red")
    for write in (
        lambda: recorder.intent(action, "op"),
        lambda: recorder.refused(action, "No.", sent=Sent("No.", picture)),
        lambda: recorder.message(Actor.HUMAN, "Hello", turn=1, parts=[{"picture": picture}]),
        lambda: plan(recorder, call("click"), turn=2),
    ):
        with pytest.raises(Fenced, match="Another worker"):
            write()
    assert (list(Event.objects.values()), list(Trace.objects.values())) == before
    assert recorder.head == action
    assert not queries.names(trace.pk, picture)


def test_it_takes_over_after_the_last_event_and_fences_the_one_before(
    recorder: Recorder, recorder_of: RecorderOf, trace: Trace
) -> None:
    recorder.message(Actor.HUMAN, "Make a chart", turn=0)
    plan(recorder, call("click"), turn=4)
    heir = recorder_of(head=queries.head_of(trace.pk, "main"))
    heir.error("worker", "The worker died.", permanent=False)
    with pytest.raises(Fenced, match="Somebody else has written to this branch"):
        recorder.message(Actor.HUMAN, "Too late", turn=4)
    assert Event.objects.get(kind=Kind.ERROR).turn == 4
    assert Trace.objects.get().next_seq == 5


def test_it_has_one_root_only(recorder: Recorder, recorder_of: RecorderOf) -> None:
    second = recorder_of("other")
    recorder.message(Actor.HUMAN, "Make a chart", turn=0)
    with pytest.raises(Fenced):
        second.message(Actor.HUMAN, "Make another", turn=0)


def test_it_refuses_to_write_to_a_trace_that_is_gone(recorder: Recorder, trace: Trace) -> None:
    recorder.message(Actor.HUMAN, "Make a chart", turn=0)
    trace.delete()
    assert Event.objects.count() == 0
    with pytest.raises(Fenced, match="has been deleted"):
        recorder.message(Actor.HUMAN, "And a table", turn=0)


def test_it_stores_whatever_a_model_can_say(recorder: Recorder, trace: Trace) -> None:
    odd = "nul\0 half \ud83d \u202e" + "x" * 500
    plan(recorder, call(odd, 0, **{odd: odd}), raw=odd)
    (recorded,) = queries.events_at(trace.pk, [2])
    assert recorded.data == {"id": "call_0", "name": odd, "input": {odd: odd}, "toolset": "computer"}
    assert recorded.name.startswith("nul  half ?  xxx")
    assert len(recorded.name) == 100


def test_it_refuses_a_head_of_another_trace(recorder_of: RecorderOf) -> None:
    with pytest.raises(ValueError, match="does not belong"):
        recorder_of(head=EventId(12345))


def test_it_refuses_a_picture_that_nobody_gave(recorder: Recorder) -> None:
    with pytest.raises(ValueError, match="Nobody gave the blob"):
        recorder.event(Kind.OBSERVATION, Actor.SYSTEM, {}, pictures=[Sha256("ab" * 32)])
    assert Event.objects.count() == 0


@pytest.mark.parametrize(
    ("outcomes", "ok"),
    [
        ([Outcome.PASSED], True),
        ([Outcome.PASSED, Outcome.FAILED, Outcome.ERRORED], False),
        ([Outcome.PASSED, Outcome.ERRORED], None),
        ([], None),
    ],
)
def test_it_never_counts_an_errored_check_as_failed(
    recorder: Recorder, outcomes: list[Outcome], ok: bool | None
) -> None:
    recorder.verify([Finding("total", "file_contains", outcome, region=(1, 2, 3, 4)) for outcome in outcomes], "done")
    event = Event.objects.get()
    assert event.ok is ok
    assert [finding["outcome"] for finding in event.data["findings"]] == outcomes


def test_it_tells_every_other_kind_of_event(recorder: Recorder, trace: Trace) -> None:
    sheet = recorder.blob(b"a,b\n1,2\n", "text/csv")
    recorder.file(name="sheet.csv", path="/home/agent/sheet.csv", direction="in", sha256=sheet, actor=Actor.HUMAN)
    recorder.snapshot(snapshot="s1", backend="gvisor", keeps="disk+memory", size=5, ms=7, label="start")
    recorder.limit("steps", "100 steps were allowed.", allowed=100, used=100)
    recorder.error("provider", "The service did not answer.", permanent=True)
    recorder.policy("upload", "Uploads are not allowed.")
    recorder.event(Kind.TAKEOVER, Actor.HUMAN, {"seconds": 72}, name="not recorded")
    told = [(event.kind, event.actor, event.name) for event in queries.all_events(trace.pk)]
    assert told == [
        ("file", "human", "sheet.csv"),
        ("snapshot", "system", "s1"),
        ("limit", "system", "steps"),
        ("error", "system", "provider"),
        ("policy", "system", "upload"),
        ("takeover", "human", "not recorded"),
    ]
    assert queries.names(trace.pk, sheet)


def test_it_adds_up_what_was_used(recorder: Recorder, trace: Trace, store: BlobStore) -> None:
    first, _ = plan(recorder, call("click", 0), call("type", 1))
    recorder.intent(first, "op")
    white = seen(recorder, "white")
    for _ in range(2):
        recorder.event(Kind.OBSERVATION, Actor.SYSTEM, {}, pictures=[white])
    size = len(queries.stored(white, store).data)
    assert queries.totals(trace.pk) == queries.Totals(steps=1, tokens=123, cost=0.25, bytes=size)
