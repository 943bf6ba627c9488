"""Steps are found by what was done, thought, said, seen and handed over."""

from datetime import timedelta

import pytest
from django.db.models import F

from traces import screens
from traces.blobs import BlobStore
from traces.events import Actor, Finding, Outcome, Recorder, Sent
from traces.models import Event, ScreenText, Trace, Words
from traces.payloads import CallData, EventId
from traces.query import BadQuery, parse
from traces.redact import Redactor
from traces.search import search

from .conftest import USAGE, RecorderOf, call, seen

pytestmark = pytest.mark.django_db


def said(recorder: Recorder, *calls: CallData, text: str = "", reasoning: str = "", turn: int = 1) -> list[EventId]:
    """The reply, and its actions."""
    replied = recorder.reply(
        None, turn=turn, text=text, reasoning=reasoning, usage=USAGE, cost=0, provider="p", model="m", calls=calls
    )
    return [replied.reply, *replied.actions]


def acted(recorder: Recorder, name: str, act: dict[str, object], text: str = "", *, ok: bool = True) -> EventId:
    given = {key: value for key, value in act.items() if key != "action"}
    _, action = said(recorder, {**call(name), "input": given})
    recorder.intent(action, "op", act)
    recorder.done(action, ok=ok, text=text, sent=Sent(text))
    return action


def hits(trace: Trace, query: str) -> list[EventId]:
    found = search(trace.pk, query)
    assert found.problem == ""
    assert found.count == len(found.hits)
    return found.hits


def test_it_finds_what_was_done(recorder: Recorder, trace: Trace) -> None:
    click = acted(recorder, "left_click", {"action": "Click", "x": 640, "y": 400})
    typed = acted(recorder, "type", {"action": "Type", "text": "quarterly figures"})
    ran = acted(recorder, "bash", {"command": "ls invoices"}, "invoice-0042.pdf")
    assert hits(trace, "clicked at 640") == [click]
    assert hits(trace, "QUARTERLY") == [typed]
    assert hits(trace, "0042.pdf") == [ran]
    assert hits(trace, "invoice") == [ran]


def test_it_finds_a_thought_at_the_step_it_led_to(recorder: Recorder, trace: Trace) -> None:
    _, first, _ = said(recorder, call("click", 0), call("click", 1), text="On I go", reasoning="The lamp is dim")
    alone, *_ = said(recorder, text="Nothing to do", turn=2)
    assert hits(trace, "lamp") == hits(trace, "on I go") == [first]
    assert hits(trace, "nothing") == [alone]


def test_it_finds_names_of_files_checks_and_words_of_people(recorder: Recorder, trace: Trace) -> None:
    note = recorder.message(Actor.HUMAN, "Use the net amounts", turn=0)
    sha256 = recorder.blob(b"x", "text/plain")
    file = recorder.file(name="sales.ods", path="/home/agent/out/sales.ods", direction="out", sha256=sha256)
    check = recorder.verify([Finding("total", "cell", Outcome.FAILED, "1,204", "1,240")], "done")
    assert hits(trace, "net") == [note]
    assert hits(trace, "out/sales") == [file]
    assert hits(trace, "1,240") == [check]
    assert hits(trace, sha256) == []


def test_it_finds_what_was_on_the_screen(recorder: Recorder, trace: Trace) -> None:
    shown = acted(recorder, "wait", {"action": "Wait", "seconds": 1}, "Prüfung")
    picture = seen(recorder, "red")
    check = recorder.verify([], "step", picture=picture)
    assert screens.unread(trace.pk) == [picture]
    screens.store_read(picture, [("Invoice 42", 1, 2, 30, 4), ("Ärger Prüfung", 1, 9, 30, 4)])
    assert screens.unread(trace.pk) == []
    assert hits(trace, 'text:"invoice 42"') == hits(trace, "INVOICE") == [check]
    assert hits(trace, "text:ärger") == [check]
    assert hits(trace, "prüfung") == [shown, check]
    assert hits(trace, "text:prüfung") == [check]


def test_it_filters(recorder: Recorder, recorder_of: RecorderOf, trace: Trace) -> None:
    note = recorder.message(Actor.HUMAN, "Go", turn=0)
    click = acted(recorder, "double_click", {"action": "Click", "x": 1, "y": 2, "count": 2})
    failed = acted(recorder, "bash", {"command": "false"}, "exit code 1", ok=False)
    check = recorder_of("b1", recorder.head).verify([], "done")
    assert hits(trace, "type:click") == hits(trace, "type:double_click") == [click]
    assert hits(trace, "error:yes") == [failed]
    assert hits(trace, "error:no") == [note, click, check]
    assert hits(trace, "by:human") == hits(trace, "by:person") == [note]
    assert hits(trace, "kind:verify") == hits(trace, "branch:b1") == [check]
    assert hits(trace, "type:click type:bash") == [click, failed]
    assert hits(trace, "type:bash clicked") == []


def test_it_knows_how_long_after_the_beginning(recorder: Recorder, trace: Trace) -> None:
    first = recorder.message(Actor.HUMAN, "Go", turn=0)
    later = recorder.message(Actor.HUMAN, "Faster", turn=0)
    Event.objects.filter(pk=later).update(started_at=F("started_at") + timedelta(minutes=10, seconds=1))
    assert hits(trace, "after:10m") == [later]
    assert hits(trace, "before:10m") == [first]
    assert hits(trace, "after:1h30m") == []


def test_it_keeps_up_with_a_trace_that_goes_on(recorder: Recorder, trace: Trace) -> None:
    _, action = said(recorder, call("bash"), reasoning="Let us see")
    assert hits(trace, "bread") == []
    recorder.intent(action, "op", {})
    assert hits(trace, "see") == [action]
    recorder.done(action, ok=True, text="bread and butter", sent=Sent("bread and butter"))
    note = recorder.message(Actor.HUMAN, "More bread", turn=1)
    assert hits(trace, "bread") == [action, note]
    assert hits(trace, "see") == [action]


def test_it_indexes_what_is_new_only(
    recorder: Recorder, trace: Trace, django_assert_max_num_queries: pytest.FixtureRequest
) -> None:
    for number in range(20):
        acted(recorder, "bash", {"command": f"echo {number}"})
    assert len(hits(trace, "echo")) == 20
    with django_assert_max_num_queries(4):  # type: ignore[operator]
        hits(trace, "echo")


def test_it_leaves_other_traces_alone(recorder: Recorder, trace: Trace) -> None:
    picture = seen(recorder, "red")
    recorder.verify([], "step", picture=picture)
    screens.store_read(picture, [("Invoice", 1, 2, 30, 4)])
    other = Trace.objects.create(owner=trace.owner, title="Other")
    assert search(other.pk, "invoice").count == 0
    assert len(hits(trace, "invoice")) == 1


def test_it_gives_as_many_as_were_asked_for(recorder: Recorder, trace: Trace) -> None:
    notes = [recorder.message(Actor.HUMAN, f"bread {number}", turn=0) for number in range(5)]
    found = search(trace.pk, "bread", limit=2)
    assert (found.count, found.hits) == (5, notes[:2])


def test_it_takes_signs_of_the_database_as_they_are(recorder: Recorder, trace: Trace) -> None:
    whole = recorder.message(Actor.HUMAN, "100% of it_all \\ done\0", turn=0)
    recorder.message(Actor.HUMAN, "1000 of it all", turn=0)
    for query in ("100%", "it_all", "\\ done", "of it_all", "'; drop table"):
        assert hits(trace, query) == ([] if "drop" in query else [whole])


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("colour:red", "There is no filter “colour:”"),
        ("by:alien", "by: can be agent, human"),
        ("error:perhaps", "error: can be yes, no, and not “perhaps”."),
        ("kind:clicks", "kind: can be message, action"),
        ("after:soon", "such as 90s, 10m or 1h30m"),
        ("after:99999999h", "such as 90s, 10m or 1h30m"),
        ("type:", "type: needs something after the colon"),
        ('text:""', "text: needs something after the colon"),
        ("x" * 301, "too long"),
        ("a " * 21, "too many words"),
    ],
)
def test_it_says_what_makes_no_sense(trace: Trace, query: str, sentence: str) -> None:
    found = search(trace.pk, query)
    assert sentence in found.problem
    assert (found.count, found.hits) == (0, [])


@pytest.mark.parametrize("query", ["", "   ", '""', '"'])
def test_it_finds_nothing_for_nothing(recorder: Recorder, trace: Trace, query: str) -> None:
    recorder.message(Actor.HUMAN, "Go", turn=0)
    assert hits(trace, query) == []


def test_it_reads_questions_as_people_write_them() -> None:
    asked = parse('Open "save as" https://a.example/x 12:30 C:\\temp type:Click text:"two words" note:"a b"')
    assert asked.words == ("open", "save as", "https://a.example/x", "12:30", "c:\\temp", "note:a b")
    assert (asked.types, asked.text) == (("click",), ("two words",))
    with pytest.raises(BadQuery):
        parse("note:a")


def test_it_hides_secrets_in_what_was_read(recorder: Recorder, trace: Trace, store: BlobStore) -> None:
    picture = seen(recorder, "red")
    recorder.verify([], "step", picture=picture)
    screens.store_read(picture, [("password hunter2-hunter2", 1, 2, 30, 4)], Redactor(["hunter2-hunter2"]))
    read = screens.screen_text(picture)
    assert read is not None
    assert "hunter2" not in read.text + str(read.spots)
    assert hits(trace, "hunter2") == []


def test_it_forgets_with_the_trace(recorder: Recorder, trace: Trace) -> None:
    recorder.message(Actor.HUMAN, "Go", turn=0)
    hits(trace, "go")
    assert Words.objects.count() == 1
    trace.delete()
    assert Words.objects.count() == 0


def test_it_reads_nothing_for_a_picture_that_is_gone() -> None:
    screens.store_read("0" * 64, [("x", 1, 2, 3, 4)])  # type: ignore[arg-type]
    assert not ScreenText.objects.exists()
