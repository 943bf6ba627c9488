"""A person takes the machine from an agent at any moment, and gives it back. Window and guest are witnesses."""

from typing import Any

import pytest

from agents import giveback, lifecycle, takeover, witness
from agents.models import State, Takeover
from agents.takeover import Stage
from godhand_web.models import User
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.errors import Refused
from sandboxes.models import Machine
from tests.guest.waiting import eventually
from tests.providers.wire import Hang, WireServer
from tests.providers.wire.replies import action, message, use
from traces.models import Event

from .conftest import Begin, Submit
from .story import actions, drive, story
from .taking import acts, done, state, taken, told
from .test_durability import clicks_on

pytestmark = pytest.mark.django_db(transaction=True)


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
