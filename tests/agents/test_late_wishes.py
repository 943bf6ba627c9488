"""What people want at a moment at which nobody looks: it is granted all the same."""

import json
from typing import Any

import pytest
from django.db import connection

from agents import api, leases, lifecycle, runner
from agents.endings import Cancelled, Ending, Parked, Yielded
from agents.models import Branch, State, Wish
from agents.provisioning import machine_of
from agents.watching import RowWatch
from godhand_web.models import User
from sandboxes.models import Machine
from sandboxes.models import State as MachineState
from tests.providers.wire import Request, Status, WireServer
from tests.providers.wire.replies import message, text, use
from traces.errors import Fenced

from .conftest import Submit
from .story import actions, drive, story

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]
JUDGED = {"name": "judge", "kind": "model_judges", "question": "Is it fine?"}
YES = message(text(json.dumps({"passed": True, "reason": "It is."})))
DONE = message(use("done", summary="It is written."))


@pytest.fixture
def queued(owner: User) -> Branch:
    return api.submit(owner, "Do it.", provider="scripted", options={"script": "chart"}).branches.get()


@pytest.mark.parametrize("ending", [Parked("Somebody paused it."), Parked("", "Which one?"), Yielded("Taken over.")])
def test_it_cancels_what_comes_to_rest_meanwhile(queued: Branch, ending: Ending) -> None:
    Branch.objects.filter(pk=queued.pk).update(state=State.RUNNING)
    lease = leases.claim(queued.pk)
    assert lease
    lifecycle.request_cancel(queued)
    runner.conclude(queued, lease, RowWatch(queued, lease), ending)
    queued.refresh_from_db()
    assert queued.state == State.CANCELLED
    queued.run.refresh_from_db()
    assert queued.run.state == State.CANCELLED


def test_it_forgets_a_pause_that_is_granted(queued: Branch) -> None:
    Branch.objects.filter(pk=queued.pk).update(state=State.RUNNING, wish=Wish.PAUSE)
    lease = leases.claim(queued.pk)
    assert lease
    runner.conclude(queued, lease, RowWatch(queued, lease), Parked("Somebody paused it.", "Which one?"))
    queued.refresh_from_db()
    assert (queued.state, queued.wish, queued.question) == (State.NEEDS_HELP, "", "Which one?")


class Late(RowWatch):
    """Somebody acts just after it has looked."""

    def __init__(self, branch: Branch, lease: leases.Lease, wish: Any) -> None:
        super().__init__(branch, lease)
        self.wish = wish

    def wishes(self) -> str:
        found = super().wishes()
        self.wish()
        return found


@pytest.mark.parametrize("wish", ["cancel", "take over"])
def test_it_gives_back_a_machine_that_nobody_waits_for_any_more(queued: Branch, wish: str) -> None:
    lease = leases.claim(queued.pk)
    assert lease
    acts = {"cancel": lambda: lifecycle.request_cancel(queued), "take over": lambda: leases.take_over(queued.pk)}
    with pytest.raises(Cancelled if wish == "cancel" else Fenced):
        machine_of(queued, lease, Late(queued, lease, acts[wish]))
    assert Machine.objects.get().state in (MachineState.DESTROYING, MachineState.DESTROYED)
    queued.refresh_from_db()
    assert queued.machine is None


def test_it_rests_in_the_middle_of_a_judges_backoff(submit_to_claude: Submit, wire: WireServer) -> None:
    branch = submit_to_claude(checks=[JUDGED])

    def meanwhile(_: Request) -> Status:
        lifecycle.request_pause(branch)
        connection.close()
        return Status(429, retry_after="50")

    wire.will(DONE, meanwhile)
    assert drive(branch).state == State.PAUSED, branch.detail
    assert actions(branch) == [("done", "intent")]
    lifecycle.request_resume(branch)
    wire.will(YES)
    assert drive(branch).state == State.SUCCEEDED, branch.detail
    assert actions(branch) == [("done", "done")]


def test_it_cancels_in_the_middle_of_a_judges_backoff(submit_to_claude: Submit, wire: WireServer) -> None:
    branch = submit_to_claude(checks=[{**JUDGED, "when": ["step"]}])

    def meanwhile(_: Request) -> Status:
        lifecycle.request_cancel(branch)
        connection.close()
        return Status(429, retry_after="50")

    wire.will(message(use("bash", command="true")), meanwhile)
    assert drive(branch).state == State.CANCELLED, branch.detail
    assert "verify step" not in story(branch)
