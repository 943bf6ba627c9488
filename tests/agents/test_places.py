"""Whose machine goes on after the choice, whose is saved, and who gives way to those that wait."""

from typing import Any

import pytest
from django.utils import timezone

from agents import choosing, exploring, places
from agents.leases import take_over
from agents.models import Branch, Run, State
from agents.runner import known_to, recorder_for
from agents.wanted import wanted
from godhand_web.models import User
from sandboxes import lease
from sandboxes.models import Lease, Machine
from sandboxes.models import State as MachineState
from traces.events import Actor
from traces.queries import head_of

from .conftest import Submit
from .test_explore import states

pytestmark = pytest.mark.django_db(transaction=True)
READY, STOPPING = MachineState.READY, MachineState.STOPPING


def ended(parent: Branch, name: str, state: State, *, begun: bool = True) -> Machine:
    """A branch that has ended, and its machine, which is on."""
    run, owner = parent.run, parent.run.task.owner
    machine = Machine.objects.create(name=name, owner=owner, backend="gvisor", image="desktop", host="nowhere")
    Machine.objects.filter(pk=machine.pk).update(state=READY)
    verdict = {"passed": state == State.SUCCEEDED, "findings": {}}
    made = Branch.objects.create(
        run=run, name=name, parent=parent, forked_at=head_of(run.trace_id, parent.name), state=state, machine=machine,
        verdict=verdict,
    )  # fmt: skip
    if begun:
        say(made)
    return machine


def say(branch: Branch) -> None:
    recorder_for(branch, take_over(branch.pk), known_to(branch)).message(Actor.SYSTEM, "On.", turn=0)


@pytest.fixture
def main(submit_to_claude: Submit) -> Branch:
    main = submit_to_claude(keep_machine=False, plan={"judge": False})
    say(main)
    Branch.objects.filter(pk=main.pk).update(state=State.CANCELLED, machine=None)
    return main


@pytest.fixture
def pair(main: Branch) -> tuple[Machine, Machine]:
    """Of the one that was chosen, and of one that was not."""
    winner, loser = ended(main, "b1", State.SUCCEEDED), ended(main, "b2", State.FAILED)
    exploring.advance(main.run_id)
    main.run.refresh_from_db()
    assert main.run.chosen == winner.branches.get()
    return winner, loser


def wait_for_a_place(main: Branch) -> None:
    Branch.objects.create(run=main.run, name="waits", parent=main, detail=f"{places.WAITING}there is none.")


def test_it_lets_the_machine_of_the_chosen_one_go_on(pair: tuple[Machine, Machine]) -> None:
    assert states(*pair) == [READY, STOPPING]
    assert wanted(pair[0]) == places.AT_ITS_END


def test_it_saves_the_machine_of_the_chosen_one_when_somebody_waits(
    main: Branch, pair: tuple[Machine, Machine], settings: Any
) -> None:
    settings.MACHINE_SLOTS = Machine.objects.count()
    Machine.objects.filter(pk=pair[1].pk).update(state=MachineState.STOPPED)
    places.make_room()
    assert states(*pair) == [READY, MachineState.STOPPED]
    settings.MACHINE_SLOTS -= 1
    wait_for_a_place(main)
    places.make_room()
    assert states(pair[0]) == [STOPPING]


def test_it_stops_what_a_person_did_not_pick(main: Branch, pair: tuple[Machine, Machine], owner: User) -> None:
    Machine.objects.filter(pk=pair[1].pk).update(state=READY)
    choosing.pick(main.run, pair[1].branches.get(), owner)
    assert states(*pair) == [STOPPING, READY]


def test_it_forgets_losers_and_not_the_chosen_one(main: Branch, pair: tuple[Machine, Machine]) -> None:
    Machine.objects.filter(pk__in=[one.pk for one in pair]).update(state=MachineState.STOPPED)
    Run.objects.filter(pk=main.run_id).update(ended_at=timezone.now() - 2 * places.KEPT)
    places.forget_losers()
    assert states(*pair) == [MachineState.STOPPED, MachineState.DESTROYING]


def test_it_makes_room_where_only_the_owner_has_none(main: Branch, pair: tuple[Machine, Machine]) -> None:
    """The host has places; whoever still waits has a limit of their own, and what they do not need gives way."""
    Machine.objects.filter(pk=pair[1].pk).update(state=MachineState.STOPPED)
    wait_for_a_place(main)
    places.make_room()
    places.make_room()
    assert states(pair[0]) == [STOPPING]


def test_it_leaves_a_person_the_machine_that_they_drive(
    main: Branch, pair: tuple[Machine, Machine], owner: User
) -> None:
    Lease.objects.create(machine=pair[0], holder=lease.holder_of(owner))
    wait_for_a_place(main)
    places.make_room()
    assert states(pair[0]) == [READY]


def test_it_does_not_save_what_nobody_has_begun_in(main: Branch) -> None:
    fresh = ended(main, "b1", State.CANCELLED, begun=False)
    ended(main, "b2", State.SUCCEEDED)
    exploring.advance(main.run_id)
    assert states(fresh) == [MachineState.DESTROYING]


def test_it_asks_a_machine_that_could_not_leave_again_only_after_a_while(
    main: Branch, pair: tuple[Machine, Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    Machine.objects.filter(pk=pair[1].pk).update(state=MachineState.STOPPED)
    wait_for_a_place(main)
    for later, seen in ((1e9, READY), (0, STOPPING)):
        places.make_room()
        Machine.objects.filter(pk=pair[0].pk).update(state=READY)
        monkeypatch.setattr(places, "ASKED_AGAIN", later)
        places.make_room()
        assert states(pair[0]) == [seen]
