"""A path holds all that is needed to tell its conversation again, exactly."""

import json
from typing import Any

import pytest

from traces import queries
from traces.blobs import BlobStore
from traces.events import Actor, Fate, Kind, Recorder, Sent
from traces.models import Trace
from traces.payloads import EventId

from .conftest import RecorderOf, call, picture, plan, seen

pytestmark = pytest.mark.django_db

ODD = "tab\t nul\0 half \ud83d bell\a é 漢 \u2028 </script>"


def conversation(trace: Trace, head: EventId | None, store: BlobStore) -> list[Any]:
    """What a model would be told: its own raw replies, and the answers to its calls."""
    assert head is not None
    told: list[Any] = []
    for event in queries.path_events(trace.pk, head):
        if event.kind == Kind.MESSAGE and event.actor == Actor.AGENT:
            told.append(json.dumps(event.raw))
        elif event.kind == Kind.MESSAGE:
            told.append(event.data["parts"])
        elif event.kind == Kind.ACTION:
            sent = event.result["sent"]
            image = sent["picture"] and queries.stored(sent["picture"], store).data
            told.append((event.data["id"], sent["text"], image, sent["ok"]))
    return told


def step(recorder: Recorder, turn: int, text: str, colour: str) -> list[Any]:
    """One reply with two calls, both answered; what the conversation is to hold of it."""
    raw = {"thinking": [{"z": text, "a": 1.0}], "b": {"y": 1, "x": [1e100, None]}}
    first, second = plan(recorder, call("click", 0), call("type", 1, text=text), turn=turn, raw=raw)
    recorder.intent(first, f"{turn}-a")
    recorder.done(first, ok=True, text="Clicked.", sent=Sent(text, seen(recorder, colour)))
    recorder.refused(second, "It is not allowed.")
    answers = [("call_0", text, picture(colour), True), ("call_1", "It is not allowed.", None, False)]
    return [json.dumps(raw), *answers]


def test_it_rebuilds_the_conversation_of_every_branch(
    recorder: Recorder, recorder_of: RecorderOf, trace: Trace, store: BlobStore
) -> None:
    recorder.message(Actor.HUMAN, "Make a chart", turn=0, name="goal")
    shared = [[{"text": "Make a chart"}], *step(recorder, 1, ODD, "white")]
    fork = recorder.head
    main = shared + step(recorder, 2, "two", "red")
    child = recorder_of("child", fork)
    child.message(Actor.SYSTEM, "Try the menu", turn=1, name="hint")
    hinted = [*shared, [{"text": "Try the menu"}]]
    grandchild = recorder_of("grandchild", child.head)
    of_child = hinted + step(child, 2, "three", "blue")
    of_grandchild = hinted + step(grandchild, 2, "four", "white")
    main += step(recorder, 3, "five", "green")
    for branch, expected in ((recorder, main), (child, of_child), (grandchild, of_grandchild)):
        assert conversation(trace, branch.head, store) == expected


def test_it_tells_the_pictures_of_a_message(recorder: Recorder, trace: Trace, store: BlobStore) -> None:
    shown = seen(recorder, "white")
    recorder.message(Actor.SYSTEM, "The screen", turn=0, parts=[{"text": "The screen:"}, {"picture": shown}])
    assert conversation(trace, recorder.head, store) == [[{"text": "The screen:"}, {"picture": shown}]]
    assert queries.names(trace.pk, shown)


def test_it_counts_what_a_path_cost(recorder: Recorder, recorder_of: RecorderOf, trace: Trace) -> None:
    step(recorder, 1, "one", "white")
    fork = recorder.head
    step(recorder, 2, "two", "white")
    child = recorder_of("child", fork)
    step(child, 2, "three", "white")
    assert child.head is not None
    assert queries.path_totals(trace.pk, child.head) == queries.Totals(steps=2, tokens=246, cost=0.5)
    assert queries.totals(trace.pk).steps == 3


def test_it_refuses_a_path_to_an_event_of_another_trace(trace: Trace) -> None:
    with pytest.raises(ValueError, match="does not belong"):
        queries.path_events(trace.pk, EventId(12345))


def test_it_tells_what_followed_a_revision_in_pages(recorder: Recorder, trace: Trace) -> None:
    for number in range(5):
        recorder.message(Actor.HUMAN, f"note {number}", turn=0)
    assert [event.seq for event in queries.changes_after(trace.pk, 1, limit=3)] == [2, 3, 4]
    assert [event.seq for event in queries.changes_after(trace.pk, 4, limit=3)] == [5]
    assert queries.changes_after(trace.pk, 5, limit=3) == []


def test_it_tells_of_an_action_again_when_it_moves_on(recorder: Recorder, trace: Trace) -> None:
    first, second = plan(recorder, call("click", 0), call("type", 1))
    known = queries.changes_after(trace.pk, 0, limit=10)[-1].revision
    recorder.intent(first, "op")
    recorder.message(Actor.HUMAN, "Wait", turn=1)
    recorder.done(first, ok=True, text="Clicked.", sent=Sent("Clicked."))
    changes = queries.changes_after(trace.pk, known, limit=10)
    assert [(event.seq, event.fate) for event in changes] == [(4, Fate.NONE), (2, Fate.DONE)]
    recorder.refused(second, "No.")
    assert [event.seq for event in queries.changes_after(trace.pk, changes[-1].revision, limit=10)] == [3]
