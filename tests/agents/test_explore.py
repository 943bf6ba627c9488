"""Exploring: best of n from a moment, the search from the best one, when a way is given up, and who gets a place."""

from itertools import count
from threading import Thread
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone
from redis import Redis

from agents import explore, exploring, lifecycle, places
from agents.branching import Way, open_branches
from agents.errors import BadCall, BadTask
from agents.models import Branch, Run, State, Wish
from agents.plan import Plan
from agents.points import Point, on_path
from agents.removal import delete_trace
from agents.tools.machine import Machine as MachineTool
from agents.trying import frontier
from agents.workplace import Workplace
from sandboxes import forking
from sandboxes.errors import Gone, Refused
from sandboxes.models import Machine, Snapshot
from sandboxes.models import State as MachineState
from tests.guest.waiting import eventually
from tests.providers.wire import WireServer
from tests.providers.wire.replies import action, message, use
from traces.payloads import EventId
from traces.queries import head_of

from .conftest import Submit
from .story import drive

pytestmark = pytest.mark.django_db(transaction=True)
IS_B = {"name": "b", "kind": "file_contains", "path": "out.txt", "text": "b", "when": ["step", "done"]}
numbers = count(1)


def write(content: str) -> dict[str, Any]:
    return message(use("files", verb="create", path="out.txt", content=content))


def done() -> dict[str, Any]:
    return message(use("done", summary="It is written."))


def saved(machine: Machine, label: str = "after 1 steps") -> Snapshot:
    return Snapshot.objects.create(
        id=f"saved{next(numbers)}", owner=machine.owner, machine=machine, label=label, backend="gvisor",
        image="desktop", image_digest="", host="here", keeps="disk+memory", size=1,
    )  # fmt: skip


@pytest.fixture
def told_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's worker says that it has saved a machine, and has not."""
    monkeypatch.setattr(forking, "request_snapshot", saved)


def points_of(branch: Branch) -> list[Point]:
    head = head_of(branch.run.trace_id, branch.name)
    assert head
    return on_path(branch.run, head)


@pytest.fixture
def failed(submit_to_claude: Submit, wire: WireServer, told_only: None) -> Branch:
    """Written well, then badly, and claimed three times. Its run may search."""
    main = submit_to_claude(checks=[IS_B], plan={"every": 1, "search": 2, "budget": 4, "judge": False})
    wire.will(write("b"), write("a"), done(), done(), done())
    assert drive(main).state == State.FAILED
    return main


def test_it_tries_n_ways_from_one_moment_once(failed: Branch) -> None:
    point = points_of(failed)[-1]
    first = explore.best_of(failed.run, None, 3, hints=["by the menu"], key="click")
    assert first[0].hint == "by the menu"
    assert "attempt 3 of 3" in first[2].hint
    assert {branch.snapshot_id for branch in first} == {point.snapshot}
    assert explore.best_of(failed.run, None, 3, hints=["by the menu"], key="click") == first
    with pytest.raises(BadTask, match="may have 4 branches"):
        explore.best_of(failed.run, None, 3)
    with pytest.raises(BadTask, match="no more hints than attempts"):
        explore.best_of(failed.run, None, 1, hints=["one", "two"])


def test_it_says_where_nothing_was_saved(submit_to_claude: Submit) -> None:
    with pytest.raises(BadTask, match="not saved before that step"):
        explore.best_of(submit_to_claude().run, None, 2)


def test_it_searches_from_the_best_moment_within_its_budget(failed: Branch) -> None:
    best, *others = frontier(failed.run, [failed])
    assert best.verified == 1.0
    assert all(point.verified <= best.verified for point in others)
    exploring.advance(failed.run_id)
    exploring.advance(failed.run_id)
    opened = list(failed.run.branches.exclude(pk=failed.pk))
    assert len(opened) == 2
    assert opened[0].snapshot_id == best.snapshot
    assert "These checks failed: b" in opened[0].hint
    for branch in opened:
        lifecycle.move(branch.pk, State.FAILED, "Nothing came of it.")
    exploring.advance(failed.run_id)
    last = failed.run.branches.exclude(state=State.FAILED).get()
    lifecycle.move(last.pk, State.FAILED, "Nothing came of it either.")
    exploring.advance(failed.run_id)
    failed.run.refresh_from_db()
    assert failed.run.branches.count() == 4
    assert (failed.run.state, failed.run.chosen) == (State.FAILED, failed)


def test_it_gives_a_way_up_whose_steps_fail_in_a_row(submit_to_claude: Submit, wire: WireServer) -> None:
    main = submit_to_claude(checks=[IS_B], plan={"patience": 2})
    wire.will(write("a"), write("b"), write("a"), write("a!"), done())
    assert drive(main).state == State.FAILED
    assert "2 steps in a row failed" in main.detail
    assert len(wire.requests) == 4


def test_it_begins_again_where_nobody_knows_whether_a_step_happened(
    submit_to_claude: Submit, wire: WireServer, told_only: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut_off(*_: object) -> None:
        raise Gone("the connection is cut.")

    monkeypatch.setattr(Workplace, "perform", cut_off)
    main = submit_to_claude(checks=[IS_B], plan={"verified": True, "recover": 1, "uncertain": True})
    wire.will(write("b"), message(action("left_click", coordinate=[9, 9])))
    assert drive(main).state == State.FAILED
    assert "Nobody knows whether this happened: left_click" in main.detail
    exploring.advance(main.run_id)
    again = main.run.branches.get(recovers=main)
    assert again.snapshot
    assert again.snapshot.label == "verified after 1 steps"
    assert "left_click" in again.hint
    lifecycle.request_cancel(again)


def test_it_lets_a_search_be_asked_for_while_a_run_is_under_way(submit_to_claude: Submit) -> None:
    main = submit_to_claude(plan={"budget": 3})
    plan = explore.search(main.run, 2, budget=6)
    main.run.refresh_from_db()
    assert (plan.search, plan.budget, plan.every, plan.verified) == (2, 6, 5, True)
    assert Plan.of(main.run) == plan
    with pytest.raises(BadTask, match="width"):
        explore.search(main.run, 9)


@pytest.mark.parametrize(
    "given", [{"verb": "fork"}, {"verb": "best_of", "n": 9}, {"verb": "best_of", "n": 1, "alternatives": ["a", "b"]}]
)
def test_it_refuses_a_fork_into_nothing_or_too_much(given: dict[str, Any]) -> None:
    with pytest.raises(BadCall, match="from 1 to 8 attempts"):
        MachineTool().run(given, None)  # type: ignore[arg-type]


def hand_out() -> None:
    places.hand_out()
    connection.close()


def test_it_waits_for_a_place_and_takes_the_first_that_is_free(
    submit_to_claude: Submit, wire: WireServer, machine_row: Machine, settings: Any, redis_url: str
) -> None:
    settings.MACHINE_SLOTS = 1
    main = submit_to_claude()
    Branch.objects.filter(pk=main.pk).update(machine=None)
    assert drive(main).state == State.QUEUED
    assert main.detail.startswith("Waiting for a place: All 1 machine slots are in use")
    assert list(places.waiting()) == [main]
    queue = Redis.from_url(redis_url)
    queue.delete("agents")
    settings.MACHINE_SLOTS = 2
    hands = Thread(target=hand_out)
    hands.start()
    eventually(lambda: queue.llen("agents") > 0)
    lifecycle.request_cancel(main)
    hands.join(10)
    assert main.pk in str(queue.lrange("agents", 0, -1))


def test_it_leaves_its_place_to_who_waits_when_it_has_failed(
    failed: Branch, machine_row: Machine, settings: Any
) -> None:
    settings.MACHINE_SLOTS = 2
    failed.run.task.keep_machine = False
    failed.run.task.save()
    passed = Machine.objects.create(
        name="passed", owner=machine_row.owner, backend="gvisor", image="desktop", host="nowhere", state="ready"
    )
    verdict = {"passed": True, "findings": {}}
    Branch.objects.create(run=failed.run, name="b2", parent=failed, state="succeeded", machine=passed, verdict=verdict)
    Machine.objects.filter(pk=machine_row.pk).update(host="nowhere")
    waits = Branch.objects.create(run=failed.run, name="b3", parent=failed)
    lifecycle.mirror(failed.run)
    places.make_room()
    assert states(machine_row, passed) == [MachineState.READY, MachineState.READY]
    Branch.objects.filter(pk=waits.pk).update(detail=f"{places.WAITING}there is none.")
    places.make_room()
    places.make_room()
    assert states(machine_row, passed) == [MachineState.STOPPING, MachineState.READY]


@pytest.fixture
def given_back(failed: Branch, machine_row: Machine) -> Branch:
    """It need not be kept, and its machine is on no host of ours."""
    failed.run.task.keep_machine = False
    failed.run.task.save()
    Machine.objects.filter(pk=machine_row.pk).update(host="nowhere")
    exploring._settle(failed.run)
    return failed


def test_it_gives_back_what_a_deleted_run_has_saved(given_back: Branch, machine_row: Machine) -> None:
    assert machine_row.snapshots.count() > 1
    lifecycle.request_cancel(given_back)
    delete_trace(given_back.run.trace)
    assert states(machine_row) == [MachineState.DESTROYING]
    assert Snapshot.objects.count() == 0


def test_it_forgets_after_a_day_what_was_not_chosen(given_back: Branch, machine_row: Machine) -> None:
    asked_for = saved(machine_row, "by the agent")
    kept = saved(machine_row, forking.WHEN_STOPPED)
    Machine.objects.filter(pk=machine_row.pk).update(state=MachineState.STOPPED, made_from=kept)
    places.forget_losers()
    assert states(machine_row) == [MachineState.STOPPED]
    Run.objects.filter(pk=given_back.run_id).update(ended_at=timezone.now() - 2 * places.KEPT)
    places.forget_losers()
    assert states(machine_row) == [MachineState.DESTROYING]
    labels = set(machine_row.snapshots.values_list("label", flat=True))
    assert asked_for.label in labels
    assert kept.label not in labels


def states(*machines: Machine) -> list[str]:
    for machine in machines:
        machine.refresh_from_db()
    return [machine.state for machine in machines]


def test_it_keeps_a_snapshot_that_a_waiting_branch_begins_from(failed: Branch) -> None:
    point = points_of(failed)[0]
    (waiting,) = explore.best_of(failed.run, point.after, 1)
    row = Snapshot.objects.get(pk=point.snapshot)
    with pytest.raises(Refused, match="has come into use"):
        forking.request_delete(row)
    lifecycle.request_cancel(waiting)
    assert forking.request_delete(Snapshot.objects.get(pk=point.snapshot)) == 1


def test_it_begins_nothing_from_a_branch_that_is_being_stopped(failed: Branch, machine_row: Machine) -> None:
    Branch.objects.filter(pk=failed.pk).update(state=State.RUNNING, wish=Wish.CANCEL)
    with pytest.raises(BadTask, match="is being stopped"):
        open_branches(failed, EventId(1), saved(machine_row).pk, [Way("on")])
    assert failed.run.branches.count() == 1
