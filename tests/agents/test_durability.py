"""Workers die at the worst moments. No click happens twice, and none is lost unseen."""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from agents import leases, runner
from agents.models import Branch, State, Task
from bench.density import on_host
from godhand_web.models import User
from sandboxes import lifecycle, network, reaper
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.base import Sandbox
from sandboxes.host import here
from sandboxes.models import Machine
from sandboxes.models import State as MachineState
from sandboxes.runsc import Runsc
from tests.guest.waiting import eventually
from tests.providers.wire import Hang, Request, WireServer
from tests.providers.wire.replies import action, message, use
from traces.models import Event

from .conftest import Submit
from .driver import Driver
from .story import actions, drive, story
from .test_explore import told_only  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)
LEASE = "2"
RUNS, CLICKS = 20, 3
MOST_WORKERS = 5
Worker = Callable[..., Driver]


Counter = Callable[[], int]


@pytest.fixture
def counter(machine: GvisorSandbox) -> Iterator[Counter]:
    yield clicks_on(machine)
    with machine.guest() as guest:
        guest.restart_bash("xev")


def clicks_on(machine: Sandbox) -> Counter:
    """How often the mouse was pressed on a window in the machine, by the window's own count."""
    with machine.guest() as guest:
        guest.bash(
            "rm -f /tmp/clicks; stdbuf -oL xev -geometry 300x300+100+100 -event button >/tmp/clicks &", session="xev"
        )
    machine.exec(["xdotool", "search", "--sync", "--onlyvisible", "--name", "Event Tester"], timeout=30)
    return lambda: machine.read_file("/tmp/clicks").count(b"ButtonPress")


@pytest.fixture
def given(owner: User, machine_row: Machine, settings: Any) -> Machine:
    """A machine with a row, made for a run that gives it back. The reaper knows of it and of the shared one."""
    settings.STUCK_SECONDS = 0
    Machine.objects.filter(pk=machine_row.pk).update(host=settings.MACHINE_HOST)
    machine = lifecycle.request_machine(owner, image="desktop")
    lifecycle.create(machine.pk)
    machine.refresh_from_db()
    assert machine.state == MachineState.READY, machine.detail
    return machine


@pytest.fixture
def worker(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    """Another process that drives a branch, and dies at a moment."""
    monkeypatch.setenv("GODHAND_LEASE_SECONDS", LEASE)
    monkeypatch.setenv("GODHAND_REDIS_URL", redis_url)
    started: list[Driver] = []

    def worker(branch: Branch, moment: str = "") -> Driver:
        started.append(Driver(str(connection.settings_dict["NAME"]), branch.pk, moment))
        return started[-1]

    yield worker
    for process in started:
        process.close()


def click() -> dict[str, Any]:
    return message(action("left_click", coordinate=[250, 250]))


def done() -> dict[str, Any]:
    return message(use("done", summary="Clicked."))


def expire(branch: Branch) -> None:
    eventually(lambda: branch.pk in leases.expired(), 20)


def finish(branch: Branch, worker: Worker) -> None:
    """A worker that is held up for as long as the short lease is fenced, and another one goes on."""
    for _ in range(MOST_WORKERS):
        expire(branch)
        assert worker(branch).wait(60) == 0
        branch.refresh_from_db()
        if branch.ended:
            break
    assert branch.state == State.SUCCEEDED, branch.detail


def test_it_asks_again_when_a_worker_dies_while_the_model_thinks(
    submit_to_claude: Submit, wire: WireServer, worker: Worker, counter: Counter
) -> None:
    branch = submit_to_claude()
    wire.will(Hang(), click(), done())
    first = worker(branch)
    eventually(lambda: len(wire.requests) == 1, 30)
    first.kill()
    finish(branch, worker)
    assert counter() == 1
    assert actions(branch) == [("left_click", "done"), ("done", "done")]


def test_it_never_buys_a_stored_reply_again(
    submit_to_claude: Submit, wire: WireServer, worker: Worker, counter: Counter
) -> None:
    branch = submit_to_claude()
    wire.will(click(), done())
    assert worker(branch, "after the reply").wait(60) == -signal.SIGKILL
    finish(branch, worker)
    assert len(wire.requests) == 2
    assert counter() == 1


@pytest.mark.parametrize(("moment", "happened"), [("before the act", 0), ("after the act", 1)])
def test_it_never_clicks_again_when_nobody_knows(
    submit_to_claude: Submit, wire: WireServer, worker: Worker, counter: Counter, moment: str, happened: int
) -> None:
    branch = submit_to_claude()

    def looks(request: Request) -> dict[str, Any]:
        assert "Nobody knows whether this happened" in str(request.body["messages"][-1])
        return done() if counter() else click()

    wire.will(click(), looks, *([] if happened else [done()]))
    assert worker(branch, moment).wait(60) == -signal.SIGKILL
    assert counter() == happened
    finish(branch, worker)
    assert counter() == 1
    assert actions(branch)[0] == ("left_click", "uncertain")


@pytest.mark.parametrize(
    ("call", "left"),
    [
        (use("bash", command="echo x >> /tmp/once; cat /tmp/once"), b"x\nx\n"),
        (use("files", verb="edit", path="/tmp/once", old="x", new="y, not x"), b"y, not x\n"),
    ],
)
def test_it_does_a_command_once_however_often_workers_die(
    submit_to_claude: Submit,
    wire: WireServer,
    worker: Worker,
    machine: GvisorSandbox,
    call: dict[str, Any],
    left: bytes,
) -> None:
    branch = submit_to_claude()
    wire.will(message(call), done())
    machine.write_file("/tmp/once", b"x\n")
    assert worker(branch, "after the act").wait(60) == -signal.SIGKILL
    assert machine.read_file("/tmp/once") == left
    finish(branch, worker)
    assert machine.read_file("/tmp/once") == left
    event = Event.objects.get(trace=branch.run.trace_id, kind="action", name=call["name"])
    assert (event.fate, event.ok) == ("done", True)


def test_it_puts_the_files_in_though_a_worker_died_before(
    submit_to_claude: Submit, wire: WireServer, worker: Worker, machine: GvisorSandbox
) -> None:
    branch = submit_to_claude(attachments={"sales.csv": b"a,b\n"})
    wire.will(done())
    assert worker(branch, "before the files").wait(60) == -signal.SIGKILL
    finish(branch, worker)
    assert machine.read_file("/home/agent/sales.csv") == b"a,b\n"
    assert story(branch)[:3] == ["observation machine", "file sales.csv", "message goal"]


@pytest.mark.parametrize(
    ("call", "state"),
    [
        (use("done", summary="Clicked."), State.SUCCEEDED),
        (use("request_human", question="Which one?"), State.NEEDS_HELP),
    ],
)
def test_it_ends_as_a_call_said_though_a_worker_died_right_after_it(
    submit_to_claude: Submit, wire: WireServer, worker: Worker, call: dict[str, Any], state: State
) -> None:
    branch = submit_to_claude()
    wire.will(message(call))
    assert worker(branch, "after the answer").wait(60) == -signal.SIGKILL
    expire(branch)
    assert worker(branch).wait(60) == 0
    branch.refresh_from_db()
    assert branch.state == state, branch.detail
    assert len(wire.requests) == 1
    assert actions(branch) == [(call["name"], "done")]


@pytest.mark.usefixtures("told_only")
def test_it_leaves_the_task_to_its_branches_though_a_worker_died_right_after_the_fork(
    submit_to_claude: Submit, wire: WireServer
) -> None:
    branch = submit_to_claude()
    wire.will(message(use("machine", verb="fork", alternatives=["by menu", "by key"], rest=True)))
    assert drive(branch).state == State.CANCELLED
    Branch.objects.filter(pk=branch.pk).update(state=State.RUNNING, lease_until=timezone.now(), detail="")
    assert drive(branch).state == State.CANCELLED
    assert branch.detail == "The task goes on in b1, b2."
    assert branch.run.branches.count() == 3
    assert len(wire.requests) == 1


def test_it_lets_no_worker_click_that_slept_for_too_long(
    submit_to_claude: Submit, wire: WireServer, worker: Worker, counter: Counter
) -> None:
    """It has said that it will click, and has not clicked yet."""
    branch = submit_to_claude()
    wire.will(click(), click(), done())
    stale = worker(branch, "asleep before the act")
    eventually(lambda: actions(branch) == [("left_click", "intent")], 30)
    finish(branch, worker)
    assert counter() == 1
    stale.send_signal(signal.SIGCONT)
    assert stale.wait(60) == 0
    assert counter() == 1
    assert actions(branch) == [("left_click", "uncertain"), ("left_click", "done"), ("done", "done")]


def test_it_ends_a_branch_whose_machine_dies_while_the_model_thinks(
    submit_to_claude: Submit, wire: WireServer, worker: Worker, given: Machine
) -> None:
    branch = submit_to_claude()
    Branch.objects.filter(pk=branch.pk).update(machine=given)
    wire.will(Hang())
    waiting = worker(branch)
    eventually(lambda: len(wire.requests) == 1, 30)
    os.kill(given.handle["pid"], signal.SIGKILL)
    eventually(lambda: not lifecycle.attach(given).alive())
    reaper.note_dead_machines()
    runner.end_bereft()
    branch.refresh_from_db()
    assert branch.state == State.INFRA_ERROR
    assert "Its processes are gone" in branch.detail
    wire.closing.set()
    assert waiting.wait(60) == 0
    assert story(branch)[-1] == "error broken"


def test_it_reaches_the_goal_in_twenty_runs_with_a_death_in_each_and_leaves_nothing(
    submit_to_claude: Submit, wire: WireServer, worker: Worker, given: Machine
) -> None:
    """The model looks at the count on each turn, as one that sees the screen would."""
    dice, counter = random.Random(1), clicks_on(lifecycle.attach(given))
    deaths = 0
    for left in reversed(range(RUNS)):
        branch, goal = submit_to_claude(), counter() + CLICKS
        Branch.objects.filter(pk=branch.pk).update(machine=given)
        Task.objects.filter(pk=branch.run.task_id).update(keep_machine=left > 0)
        wire.will(*[lambda _, goal=goal: click() if counter() < goal else done()] * 60)
        deaths += dies_somewhere(worker(branch), dice)
        finish(branch, worker)
        assert counter() == goal
        wire._answers.clear()
    assert deaths == RUNS
    assert given.pk in on_host()["namespaces"]
    for _ in range(2):
        reaper.reap()
    given.refresh_from_db()
    assert given.state == MachineState.DESTROYED
    assert [found for kind in on_host().values() for found in kind if given.pk in found] == []
    assert list(Runsc(here()).processes(network.namespace_name(here(), given.pk))) == []


def dies_somewhere(process: Driver, dice: random.Random) -> bool:
    """The sleep is no wait for anything: it is the moment of death."""
    process.wait_until_it_drives()
    time.sleep(dice.uniform(0.0, 0.6))
    alive = process.poll() is None
    process.kill()
    process.wait()
    return alive
