"""A person takes the machine from an agent at any moment, and gives it back. Window and guest are witnesses."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from agents import giveback, lifecycle, runner, takeover, witness
from agents.models import Branch, State, Takeover
from agents.takeover import Stage
from godhand_web.models import User
from sandboxes import forking, lease
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.errors import Refused, Taken
from sandboxes.ids import new_id
from sandboxes.models import Lease, Machine
from sandboxes.rekey import rekey
from tests.guest.waiting import eventually
from tests.providers.wire import Hang, WireServer
from tests.providers.wire.replies import action, message, use
from traces.models import Event

from .conftest import Begin, Submit
from .story import actions, drive, story
from .test_durability import Worker, clicks_on, worker  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)

KILLED_IN_THE_ACT = -signal.SIGKILL
"""The end of a worker that was stopped while it was sending; of one that was stopped before or after, it is 0."""


@pytest.fixture
def row(machine: GvisorSandbox, machine_row: Machine, settings: Any) -> Iterator[Machine]:
    """The shared machine. A take-over changes its key, which the others who share it have to know."""
    settings.TAKEOVER_SNAPSHOTS = False
    yield machine_row
    machine_row.refresh_from_db()
    machine.handle = machine_row.handle


@pytest.fixture
def begin(row: Machine, begin: Begin) -> Begin:
    """Whoever drives is waited for before the machine goes."""
    return begin


def done() -> dict[str, Any]:
    return message(use("done", summary="It is done."))


def acts(branch: Branch) -> bool:
    return Event.objects.filter(trace=branch.run.trace_id, fate="intent").exists()


def taken(row: Machine, person: User, *, interrupt: bool = False) -> list[Stage]:
    """The stages on the way, each once."""
    stages: list[Stage] = []

    def is_there() -> bool:
        stage = takeover.take(row, person, interrupt=interrupt)
        if stage not in stages:
            stages.append(stage)
        return stage is Stage.YOURS

    eventually(is_there, 20)
    return stages


def state(branch: Branch) -> str:
    branch.refresh_from_db()
    return branch.state


def told(wire: WireServer) -> tuple[str, list[str]]:
    """The last turn that the model was given: its words, and the types of its parts."""
    content = wire.last["messages"][-1]["content"]
    parts = [part for part in content if part["type"] != "tool_result"]
    return "".join(part.get("text", "") for part in parts), [part["type"] for part in parts]


def test_it_lets_the_action_end_and_refuses_the_next(
    submit_to_claude: Submit, wire: WireServer, row: Machine, owner: User, begin: Begin, machine: GvisorSandbox
) -> None:
    branch, clicks = submit_to_claude(), clicks_on(machine)
    click = action("left_click", coordinate=[250, 250])
    wire.will(message(action("hold_key", text="shift", duration=1), click))
    begin(branch)
    eventually(lambda: acts(branch), 30)
    assert taken(row, owner) == [Stage.FINISHING, Stage.YOURS]
    assert state(branch) == State.HUMAN_CONTROL
    assert actions(branch) == [("hold_key", "done"), ("left_click", "refused")]
    row.refresh_from_db()
    machine.handle = row.handle
    assert clicks() == 0
    assert story(branch)[-1] == "takeover took control"


def test_it_gives_back_with_a_note_and_a_fresh_picture(
    submit_to_claude: Submit, wire: WireServer, row: Machine, owner: User, begin: Begin, machine: GvisorSandbox
) -> None:
    branch = submit_to_claude()
    wire.will(Hang())
    begin(branch)
    eventually(lambda: len(wire.requests) == 1, 30)
    assert taken(row, owner) == [Stage.YOURS]
    row.refresh_from_db()
    machine.handle = row.handle
    with machine.desktop() as desktop, machine.guest() as guest:
        before = desktop.version
        guest.bash("zenity --info --text='A person was here' >/dev/null 2>&1 &", session="person")
        desktop.wait_for_change(before, 20)
    assert giveback.hand_back(row, owner, Takeover.Choice.CONTINUE, "Logged in. Go on with the form.")
    wire.closing.set()
    wire.will(done())
    eventually(lambda: drive(branch).state == State.SUCCEEDED, 30)
    words, parts = told(wire)
    assert "A person has controlled this desktop" in words
    assert "Their note: Logged in. Go on with the form." in words
    assert parts == ["text", "image"]
    step = Event.objects.get(trace=branch.run.trace_id, kind="takeover", name__startswith="takeover ")
    assert (step.actor, step.data["who"]) == ("human", "owner")
    assert step.data["text"].endswith("s, not recorded")
    assert step.before != step.after
    assert step.result["change"]["boxes"]
    with machine.guest() as guest:
        guest.restart_bash("person")


def test_it_records_a_person_who_wants_it(
    submit_to_claude: Submit, wire: WireServer, row: Machine, owner: User, machine: GvisorSandbox, settings: Any
) -> None:
    settings.MACHINE_HOST = row.host
    branch = submit_to_claude()
    wire.will(message(use("request_human", question="Help?")))
    drive(branch)
    assert takeover.take(row, owner, private=False) is Stage.YOURS
    row.refresh_from_db()
    machine.handle = row.handle
    eyes = witness.Witness()
    eyes.go_round()
    with machine.desktop() as desktop, machine.guest() as guest:
        before = desktop.version
        guest.bash("zenity --info --text='A person was here' >/dev/null 2>&1 &", session="person")
        desktop.wait_for_change(before, 20)
    seen = Event.objects.filter(trace=branch.run.trace_id, kind="observation", actor="human")

    def is_seen() -> bool:
        eyes.go_round()
        return seen.exists()

    eventually(is_seen, 20)
    step = seen.latest("seq")
    assert step.data["text"] == "owner drives"
    assert step.result["change"]["boxes"]
    assert giveback.hand_back(row, owner, Takeover.Choice.STOP)
    eyes.go_round()
    drive(branch)
    told = Event.objects.get(trace=branch.run.trace_id, kind="takeover", name__startswith="takeover ")
    assert (told.data["recorded"], told.data["text"].endswith(" s")) == (True, True)
    with machine.guest() as guest:
        guest.restart_bash("person")


def test_it_interrupts_a_command_and_the_machine_itself_refuses_the_old_key(
    submit_to_claude: Submit, wire: WireServer, row: Machine, owner: User, begin: Begin
) -> None:
    branch, old = submit_to_claude(), GvisorSandbox.attach(row.handle)
    wire.will(message(use("bash", command="sleep 300", timeout=5), use("bash", command="touch /tmp/queued")))
    begin(branch)
    eventually(lambda: acts(branch), 30)
    assert taken(row, owner, interrupt=True) == [Stage.FINISHING, Stage.YOURS]
    assert actions(branch) == [("bash", "uncertain"), ("bash", "refused")]
    with pytest.raises(Refused):
        old.exec(["touch", "/tmp/stale"])
    row.refresh_from_db()
    fresh = GvisorSandbox.attach(row.handle)
    assert fresh.exec(["ls", "/tmp/stale", "/tmp/queued"]).returncode == 2
    assert fresh.exec(["pgrep", "-fx", "sleep 300"]).returncode == 1
    with fresh.guest() as guest:
        assert guest.bash("echo still here", timeout=20).output.endswith(b"still here\n")


def test_it_stops_a_worker_that_slept_through_a_take_over(
    submit_to_claude: Submit,
    wire: WireServer,
    row: Machine,
    owner: User,
    worker: Worker,  # noqa: F811
    machine: GvisorSandbox,
) -> None:
    branch = submit_to_claude()
    with machine.guest() as guest:
        guest.bash("rm -f /tmp/keys; stdbuf -oL xev -event keyboard >/tmp/keys &", session="keys")
    machine.exec(["xdotool", "search", "--sync", "--onlyvisible", "--name", "Event Tester"], timeout=30)
    wire.will(message(action("hold_key", text="q", duration=60)))
    stale = worker(branch)
    eventually(lambda: machine.read_file("/tmp/keys").count(b"KeyPress") > 2, 30)
    stale.send_signal(signal.SIGSTOP)
    taken(row, owner, interrupt=True)
    row.refresh_from_db()
    machine.handle = row.handle
    pressed = machine.read_file("/tmp/keys").count(b"KeyPress")
    with suppress(ProcessLookupError):
        stale.send_signal(signal.SIGCONT)
    assert stale.wait(60) in (0, KILLED_IN_THE_ACT)
    assert machine.read_file("/tmp/keys").count(b"KeyPress") == pressed
    assert state(branch) == State.HUMAN_CONTROL
    with machine.guest() as guest:
        guest.restart_bash("keys")


def test_it_never_lets_two_send_however_they_fight(row: Machine, owner: User, staff: User) -> None:
    """The fence is asked all the time; whoever it lets through says so, and nobody else may meanwhile."""
    inside: list[str] = []
    wrong: list[list[str]] = []
    over = threading.Event()
    fence = lease.fence_of(row.pk)

    def send(holder: str) -> None:
        while not over.is_set():
            with suppress(Taken), fence.passing(holder):
                inside.append(holder)
                if len(set(inside)) > 1:
                    wrong.append(list(inside))
                inside.remove(holder)

    def grab(person: User | None) -> None:
        try:
            for _ in range(15):
                held = lease.of(row.pk)
                lease.change(held, lease.holder_of(person) if person else lease.AGENT)
        finally:
            connection.close()

    people = [lease.holder_of(owner), lease.holder_of(staff), lease.AGENT]
    senders = [threading.Thread(target=send, args=(holder,)) for holder in people]
    takers = [threading.Thread(target=grab, args=(person,)) for person in (owner, staff, None)]
    for thread in senders + takers:
        thread.start()
    for thread in takers:
        thread.join()
    over.set()
    for thread in senders:
        thread.join()
    assert wrong == []
    held = lease.of(row.pk)
    assert (fence.held().epoch, fence.held().holder) == (held.epoch, held.holder)


def test_it_rests_when_the_time_is_over(
    submit_to_claude: Submit, wire: WireServer, row: Machine, owner: User, begin: Begin
) -> None:
    branch = submit_to_claude()
    wire.will(Hang())
    begin(branch)
    eventually(lambda: len(wire.requests) == 1, 30)
    taken(row, owner)
    wire.closing.set()
    Lease.objects.filter(pk=row.pk).update(expires=timezone.now() - timedelta(seconds=1))
    assert not lease.beat(lease.of(row.pk), lease.holder_of(owner), longer=True)
    giveback.sweep()
    assert state(branch) == State.PAUSED
    assert lease.of(row.pk).holder == ""
    with pytest.raises(Taken), lease.fence_of(row.pk).passing(lease.holder_of(owner)):
        pass
    lifecycle.request_resume(branch)
    wire.will(done())
    assert drive(branch).state == State.SUCCEEDED
    assert "ran out of time" in told(wire)[0]


def test_it_answers_a_question_by_hand(submit_to_claude: Submit, wire: WireServer, row: Machine, owner: User) -> None:
    branch = submit_to_claude()
    wire.will(message(use("request_human", question="The code?")))
    assert drive(branch).state == State.NEEDS_HELP
    assert taken(row, owner) == [Stage.YOURS]
    assert state(branch) == State.HUMAN_CONTROL
    assert giveback.hand_back(row, owner, Takeover.Choice.CONTINUE, "Typed it in.")
    wire.will(done())
    assert drive(branch).state == State.SUCCEEDED
    assert "Typed it in." in told(wire)[0]


def test_it_goes_on_from_before_the_person_came(
    submit_to_claude: Submit, wire: WireServer, row: Machine, owner: User, begin: Begin, settings: Any
) -> None:
    """The machine's host saves it here in the test, as its worker does."""
    settings.TAKEOVER_SNAPSHOTS = True
    branch = submit_to_claude()
    wire.will(message(use("bash", command="true")), Hang())
    begin(branch)
    eventually(lambda: len(wire.requests) == 2, 30)
    assert takeover.take(row, owner) is Stage.SAVING
    forking.snapshot(row.pk, takeover.BEFORE)
    assert takeover.take(row, owner) is Stage.YOURS
    wire.closing.set()
    assert giveback.hand_back(row, owner, Takeover.Choice.BRANCH, "Use the other form.")
    child = Branch.objects.get(parent=branch)
    assert child.snapshot
    assert child.snapshot.label == takeover.BEFORE
    assert child.hint == "Use the other form."
    talk = runner.conversation(child)
    assert (talk.replies, talk.pending) == (1, [])
    assert state(branch) == State.PAUSED
    assert "snapshot" in story(branch)[-2]


def test_it_stops_for_good_and_still_tells_of_the_person(
    submit_to_claude: Submit, wire: WireServer, row: Machine, owner: User
) -> None:
    branch = submit_to_claude()
    wire.will(message(use("request_human", question="Help?")))
    drive(branch)
    taken(row, owner)
    assert giveback.hand_back(row, owner, Takeover.Choice.STOP)
    assert drive(branch).state == State.CANCELLED
    assert any(line.startswith("takeover takeover") for line in story(branch))
    assert len(wire.requests) == 1


def test_it_lets_the_agent_go_on_when_nobody_wants_it_any_more(
    submit_to_claude: Submit, wire: WireServer, row: Machine, owner: User, begin: Begin
) -> None:
    branch = submit_to_claude()
    wire.will(message(action("wait", duration=1)), done())
    begin(branch)
    eventually(lambda: acts(branch), 30)
    assert takeover.take(row, owner) is Stage.FINISHING
    assert giveback.withdraw(row, owner)
    eventually(lambda: state(branch) == State.SUCCEEDED, 30)


def test_it_goes_one_step_at_a_time(submit_to_claude: Submit, wire: WireServer, row: Machine) -> None:
    branch = submit_to_claude()
    first, second = (action("left_click", coordinate=[side, side]) for side in (250, 260))
    wire.will(message(first, second), done())
    for fates in (["planned", "planned"], ["done", "planned"], ["done", "done"]):
        assert lifecycle.request_step(branch)
        assert drive(branch).state == State.PAUSED
        assert [fate for name, fate in actions(branch) if name == "left_click"] == fates
    lifecycle.request_resume(branch)
    assert drive(branch).state == State.SUCCEEDED


def test_it_cancels_what_a_person_drives(submit_to_claude: Submit, wire: WireServer, row: Machine, owner: User) -> None:
    branch = submit_to_claude()
    wire.will(message(use("request_human", question="Help?")))
    drive(branch)
    taken(row, owner)
    lifecycle.request_cancel(branch)
    assert state(branch) == State.CANCELLED
    assert takeover.branch_of(row) is None


def test_it_changes_hands_as_often_as_it_is_asked_to(row: Machine, owner: User, staff: User) -> None:
    took = []
    for person in (owner, staff) * 5:
        began = time.monotonic()
        assert lease.change(lease.of(row.pk), lease.holder_of(person))
        took.append((time.monotonic() - began) * 1000)
    print(f"It changes hands in {sorted(took)[len(took) // 2]:.0f} ms.")
    assert lease.of(row.pk).epoch == 10


def test_it_forks_a_machine_that_was_saved_while_its_key_was_changed(machine: GvisorSandbox, row: Machine) -> None:
    old = GvisorSandbox.attach(row.handle)
    rekey(row)
    machine.handle = row.handle
    with pytest.raises(Refused):
        old.exec(["true"])
    child = GvisorSandbox.fork(old.snapshot("with the old key"), new_id())
    try:
        assert child.exec(["echo", "here"]).stdout == b"here\n"
    finally:
        child.destroy()
