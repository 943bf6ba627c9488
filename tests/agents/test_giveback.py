"""The ways out of a take-over: time over, another branch, the end, no longer wanted."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agents import giveback, lifecycle, runner, takeover
from agents.models import Branch, State, Takeover
from agents.takeover import Stage
from godhand_web.models import User
from sandboxes import forking, lease
from sandboxes.errors import Taken
from sandboxes.models import Lease, Machine
from tests.guest.waiting import eventually
from tests.providers.wire import Hang, WireServer
from tests.providers.wire.replies import action, message, use

from .conftest import Begin, Submit
from .story import drive, story
from .taking import acts, done, state, taken, told

pytestmark = pytest.mark.django_db(transaction=True)


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


def test_it_cancels_what_a_person_drives(submit_to_claude: Submit, wire: WireServer, row: Machine, owner: User) -> None:
    branch = submit_to_claude()
    wire.will(message(use("request_human", question="Help?")))
    drive(branch)
    taken(row, owner)
    lifecycle.request_cancel(branch)
    assert state(branch) == State.CANCELLED
    assert takeover.branch_of(row) is None
