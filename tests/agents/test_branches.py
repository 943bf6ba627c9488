"""Branches of one run: the conversation they share, where they may begin, and which of them counts."""

import json
from typing import Any

import pytest

from agents import choosing, exploring, lifecycle, points
from agents.branching import Way, fork_at, open_branches
from agents.errors import BadTask
from agents.models import Branch, State
from godhand_web.models import User
from sandboxes.models import Machine, Snapshot
from tests.providers.wire import WireServer
from tests.providers.wire.replies import (
    action,
    computer_call,
    function_call,
    message,
    reasoning,
    response,
    text,
    thinking,
    use,
)
from traces.models import Event
from traces.payloads import EventId
from traces.screens import store_read, unread

from .conftest import Submit
from .story import drive

pytestmark = pytest.mark.django_db(transaction=True)
IS_B = {"name": "b", "kind": "file_contains", "path": "out.txt", "text": "b"}
OPEN = "zenity --info --title=Spring --text=Summer & xdotool search --sync --onlyvisible --name Spring"
CLAUDE = [
    message(thinking("First a look."), action("screenshot"), use("bash", command="echo hello")),
    message(thinking("Then a click."), text("I click."), action("left_click", coordinate=[640, 400])),
]
GPT = [
    response(reasoning("First a look."), computer_call({"type": "screenshot"})),
    response(reasoning("Then a word."), function_call("bash", command="echo hello")),
]


def child(parent: Branch, name: str, after: int, **more: Any) -> Branch:
    made = Branch.objects.create(
        run=parent.run, name=name, parent=parent, forked_at=after, machine=parent.machine, **{"hint": name, **more}
    )
    return drive(made)


def before_reply(branch: Branch, number: int) -> int:
    """The event before a reply: where every call of those before it is answered."""
    replies = Event.objects.filter(trace=branch.run.trace_id, name="reply").order_by("seq")
    parent = replies[number].parent_id
    assert parent
    return parent


@pytest.mark.parametrize("vendor", ["anthropic", "openai"])
def test_it_sends_every_branch_the_same_beginning(submit: Submit, wire: WireServer, vendor: str) -> None:
    claude = vendor == "anthropic"
    options = {
        "model": "claude-opus-5-5" if claude else "gpt-5.6",
        "base_url": wire.anthropic_url if claude else wire.openai_url,
    }
    done = message(use("done", summary="Done.")) if claude else response(function_call("done", summary="Done."))
    wire.will(*(CLAUDE if claude else GPT), done, done, done)
    main = drive(submit(provider=vendor, options=options))
    after = before_reply(main, 2)
    for name in ("b1", "b2"):
        assert child(main, name, after).state == State.SUCCEEDED
    assert wire.refusals == []
    key = "messages" if claude else "input"
    shared, first, second = (json.dumps(unmarked(request.body)[key]) for request in wire.requests[-3:])
    assert len(json.loads(shared)) >= 5
    assert first.startswith(shared[:-1])
    assert second.startswith(shared[:-1])
    rest = [{k: v for k, v in request.body.items() if k != key} for request in wire.requests[-3:]]
    assert rest[0] == rest[1] == rest[2]


def unmarked(value: Any) -> Any:
    """Without the marks of what is to be cached, which move along with the end."""
    if isinstance(value, dict):
        return {key: unmarked(item) for key, item in value.items() if key != "cache_control"}
    return [unmarked(item) for item in value] if isinstance(value, list) else value


def test_it_chooses_by_the_checks_and_says_why(submit_to_claude: Submit, wire: WireServer) -> None:
    main = submit_to_claude(checks=[IS_B], plan={"stop": "all", "judge": False})
    wire.will(write("a"), done(), done(), done())
    assert drive(main).state == State.FAILED
    wire.will(write("b"), done())
    winner = child(main, "b1", before_reply(main, 1))
    exploring.advance(main.run_id)
    main.run.refresh_from_db()
    assert (main.run.chosen, main.run.state) == (winner, State.SUCCEEDED)
    told = Event.objects.get(trace=main.run.trace_id, kind="select")
    assert told.branch == "b1"
    assert told.data["reasons"] == ["b1 before main: 1 of 1 checks passed, against 0 of 1 checks passed."]
    exploring.advance(main.run_id)
    assert Event.objects.filter(trace=main.run.trace_id, kind="select").count() == 1


def test_it_asks_a_judge_about_each_of_those_that_the_checks_find_equal(
    submit_to_claude: Submit, wire: WireServer
) -> None:
    main = submit_to_claude("Write b.", checks=[IS_B], plan={"stop": "all"})
    wire.will(message(use("bash", command=OPEN)), write("b"), done())
    drive(main)
    wire.will(message(use("files", verb="create", path="other.txt", content="b")), done())
    other = child(main, "b1", before_reply(main, 1))
    opened = Event.objects.get(trace=main.run.trace_id, name="bash")
    for shown in unread(main.run.trace_id):
        store_read(shown, [("Winter" if shown == opened.before else "Spring", 0, 0, 90, 20)])
    asked = len(wire.requests)
    scores = iter((0.2, 0.9))
    wire.will(*[lambda _: message(text(json.dumps({"score": next(scores), "reason": "As it looks."})))] * 2)
    exploring.advance(main.run_id)
    main.run.refresh_from_db()
    assert main.run.chosen == other
    assert main.run.choice["reasons"] == ["b1 before main: the judge gave it 0.90, against 0.20."]
    assert {one["said"] for one in main.run.choice["order"]} == {"As it looks."}
    questions = [str(request.body["messages"]) for request in wire.requests[asked:]]
    assert all("Write b." in question and "gone: “Winter”; new: “Spring”" in question for question in questions)
    assert ["other.txt" in question for question in questions] == [False, True]
    assert all(not request.body.get("tools") for request in wire.requests[asked:])


def test_it_lets_a_person_overrule_the_choice(submit_to_claude: Submit, wire: WireServer, owner: User) -> None:
    main = submit_to_claude(checks=[IS_B], plan={"stop": "all"})
    wire.will(write("b"), done())
    drive(main)
    wire.will(write("a"), done(), done(), done())
    other = child(main, "b1", before_reply(main, 1))
    exploring.advance(main.run_id)
    main.run.refresh_from_db()
    assert main.run.chosen == main
    choosing.pick(main.run, other, owner)
    exploring.advance(main.run_id)
    main.run.refresh_from_db()
    assert (main.run.chosen, main.run.chosen_by, main.run.state) == (other, owner, State.FAILED)


def test_it_ends_the_others_when_one_passes(submit_to_claude: Submit, wire: WireServer) -> None:
    main = submit_to_claude(checks=[IS_B], plan={"stop": "first"})
    wire.will(write("b"), done())
    drive(main)
    waiting = Branch.objects.create(run=main.run, name="b1", parent=main, forked_at=before_reply(main, 1))
    exploring.advance(main.run_id)
    waiting.refresh_from_db()
    assert waiting.state == State.CANCELLED
    main.run.refresh_from_db()
    assert main.run.state == State.SUCCEEDED


def test_it_is_under_way_while_one_branch_is(submit_to_claude: Submit, wire: WireServer) -> None:
    main = submit_to_claude(checks=[IS_B])
    Branch.objects.create(run=main.run, name="b1", parent=main)
    wire.will(write("b"), done())
    drive(main)
    main.run.refresh_from_db()
    assert not main.run.ended


def test_it_begins_again_from_the_last_saved_moment_and_says_what_failed(
    submit_to_claude: Submit, wire: WireServer, machine_row: Machine
) -> None:
    main = submit_to_claude(checks=[IS_B], plan={"recover": 1})
    wire.will(write("a"), done(), done(), done())
    drive(main)
    saved = save(main, machine_row, after=before_reply(main, 1))
    exploring.advance(main.run_id)
    exploring.advance(main.run_id)
    again = main.run.branches.get(recovers=main)
    assert (again.snapshot_id, again.forked_at) == (saved.snapshot, saved.after)
    assert "b: " in again.hint
    main.run.refresh_from_db()
    assert main.run.state == State.QUEUED
    lifecycle.request_cancel(again)


def test_it_makes_one_branch_for_two_clicks_and_no_more_than_planned(
    submit_to_claude: Submit, wire: WireServer, machine_row: Machine
) -> None:
    main = submit_to_claude(plan={"budget": 3})
    wire.will(write("a"), done())
    drive(main)
    point = save(main, machine_row, after=before_reply(main, 1))
    first = fork_at(main.run, point, [Way("one"), Way("two")], key="click")
    assert fork_at(main.run, point, [Way("one"), Way("two")], key="click") == first
    with pytest.raises(BadTask, match="may have 3 branches"):
        fork_at(main.run, point, [Way("three")])
    assert [branch.name for branch in first] == ["b1", "b2"]
    for branch in first:
        lifecycle.request_cancel(branch)


def test_it_shares_what_money_is_left(submit_to_claude: Submit, wire: WireServer, machine_row: Machine) -> None:
    main = submit_to_claude(limits={"money": 8.0})
    wire.will(write("a"), done())
    drive(main)
    point = save(main, machine_row, after=before_reply(main, 1))
    one, two = open_branches(main, point.after, point.snapshot, [Way("one"), Way("two")])
    assert one.share["money"] == two.share["money"]
    assert one.share["money"] < 5
    for branch in (one, two):
        lifecycle.request_cancel(branch)


def write(content: str) -> dict[str, Any]:
    return message(use("files", verb="create", path="out.txt", content=content))


def done() -> dict[str, Any]:
    return message(use("done", summary="It is written."))


def save(branch: Branch, machine: Machine, after: int) -> points.Point:
    """As if the machine had been saved there."""
    row = Snapshot.objects.create(
        id="saved", owner=machine.owner, machine=machine, label="after 1 steps", backend="gvisor", image="desktop",
        image_digest="", host="here", keeps="disk+memory", size=1,
    )  # fmt: skip
    parent = Event.objects.get(pk=after)
    Event.objects.filter(pk=after).update(kind="snapshot", data={"snapshot": row.pk, "label": row.label})
    found = points.nearest(branch.run, EventId(parent.pk))
    assert found
    return found
