"""One choice for one set of branches, however many ask for it at once, and whoever dies of it."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from agents import api, choosing, exploring
from agents.deciding import turn_of
from agents.errors import BadTask
from agents.leases import take_over
from agents.models import Branch, Run, State, Task
from agents.runner import known_to, recorder_for
from godhand_web.celery import ROUNDS
from godhand_web.models import User
from sandboxes.models import Machine
from sandboxes.models import State as MachineState
from tests.guest.waiting import eventually
from tests.providers.wire import Request, WireServer
from tests.providers.wire.replies import message, text
from traces.events import Actor
from traces.models import Event
from traces.queries import head_of

from .conftest import MODEL

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]


def scored(score: float) -> dict[str, Any]:
    return message(text(json.dumps({"score": score, "reason": "It shows."})))


def ended(run: Run, name: str, parent: Branch | None, state: State) -> Branch:
    """With a machine that is on, and one event of its own."""
    machine = Machine.objects.create(
        name=name, owner=run.task.owner, backend="gvisor", image="desktop", host="nowhere", state=MachineState.READY
    )
    branch, _ = Branch.objects.get_or_create(run=run, name=name, defaults={"parent": parent})
    forked_at = head_of(run.trace_id, parent.name) if parent else None
    Branch.objects.filter(pk=branch.pk).update(machine=machine, state=state, forked_at=forked_at, claim="Done.")
    branch.refresh_from_db()
    recorder_for(branch, take_over(branch.pk), known_to(branch)).message(Actor.SYSTEM, "On.", turn=0)
    return branch


@pytest.fixture
def tied(owner: User, wire: WireServer) -> Run:
    """The first was cancelled; two others say that they are done, and no check tells them apart."""
    options = {"model": MODEL, "base_url": wire.anthropic_url, "timeout": 20.0}
    run = api.submit(owner, "Do it.", provider="anthropic", options=options, plan={"stop": "all", "judge": True})
    main = ended(run, "main", None, State.CANCELLED)
    for name in ("b1", "b2"):
        ended(run, name, main, State.SUCCEEDED)
    Run.objects.filter(pk=run.pk).update(state=State.RUNNING)
    return run


def chosen(run: Run) -> tuple[str | None, str]:
    run.refresh_from_db()
    return run.chosen.name if run.chosen else None, run.state


def machine_of(run: Run, name: str) -> str:
    return Machine.objects.get(branches__run=run, branches__name=name).state


def choices(run: Run) -> int:
    return Event.objects.filter(trace=run.trace_id, kind="select").count()


def test_it_settles_nothing_while_another_is_choosing(tied: Run, wire: WireServer) -> None:
    seen = []

    def meanwhile(_: Request) -> dict[str, Any]:
        exploring.advance(tied.pk)
        seen.append((*chosen(tied), machine_of(tied, "b2")))
        connection.close()
        return scored(0.2)

    wire.will(meanwhile, scored(0.9))
    exploring.advance(tied.pk)
    assert seen == [(None, State.RUNNING, MachineState.READY)]
    assert chosen(tied) == ("b2", State.SUCCEEDED)
    assert (machine_of(tied, "b1"), machine_of(tied, "b2")) == (MachineState.STOPPING, MachineState.READY)
    assert (len(wire.requests), choices(tied)) == (2, 1)


def test_it_pays_no_second_judge_for_whoever_read_the_run_before(tied: Run, wire: WireServer) -> None:
    stale = Run.objects.get(pk=tied.pk)
    wire.will(scored(0.2), scored(0.9))
    assert choosing.choose(tied)
    assert choosing.choose(stale)
    assert (len(wire.requests), choices(tied)) == (2, 1)


def test_it_leaves_the_word_to_a_person_who_picks_meanwhile(tied: Run, wire: WireServer, owner: User) -> None:
    def meanwhile(_: Request) -> dict[str, Any]:
        choosing.pick(Run.objects.get(pk=tied.pk), tied.branches.get(name="b1"), owner)
        connection.close()
        return scored(0.2)

    wire.will(meanwhile, scored(0.9))
    exploring.advance(tied.pk)
    assert chosen(tied) == ("b1", State.SUCCEEDED)
    assert tied.chosen_by == owner


def test_it_leaves_the_machine_of_a_branch_that_begins_meanwhile(tied: Run, wire: WireServer) -> None:
    def meanwhile(_: Request) -> dict[str, Any]:
        late = ended(tied, "b3", tied.branches.get(name="main"), State.RUNNING)
        connection.close()
        return scored(0.2) if late else {}

    wire.will(meanwhile, scored(0.9))
    exploring.advance(tied.pk)
    assert chosen(tied) == ("b2", State.RUNNING)
    assert machine_of(tied, "b3") == MachineState.READY


def test_it_goes_on_soon_where_a_worker_died_while_choosing(tied: Run, wire: WireServer, settings: Any) -> None:
    settings.LEASE_SECONDS = 30
    with turn_of(tied.pk) as dies:
        assert dies
        exploring.advance(tied.pk)
        assert chosen(tied) == (None, State.RUNNING)
        tied.refresh_from_db()
        assert tied.choosing_until <= timezone.now() + timedelta(seconds=30)
        Run.objects.filter(pk=tied.pk).update(choosing_until=timezone.now())
        wire.will(scored(0.2), scored(0.9))
        exploring.advance(tied.pk)
        assert chosen(tied) == ("b2", State.SUCCEEDED)
        assert not dies.renew()
        assert not dies.decide(chosen=tied.branches.get(name="b1"))
    assert chosen(tied) == ("b2", State.SUCCEEDED)


def test_it_keeps_its_turn_for_as_long_as_a_judge_takes(tied: Run, settings: Any) -> None:
    settings.LEASE_SECONDS = 0.6
    with turn_of(tied.pk) as turn:
        assert turn
        first = turn.until
        with turn.kept():
            eventually(lambda: turn.until > first + timedelta(seconds=1))
            with turn_of(tied.pk) as other:
                assert other is None
        assert turn.decide(chosen=tied.branches.get(name="b1"))


def test_it_chooses_where_every_message_waits_behind_branches(tied: Run, wire: WireServer) -> None:
    broken = api.start(tied.task)
    broken.branches.update(state=State.FAILED)
    Run.objects.filter(pk=broken.pk).update(plan={"search": "none"})
    with pytest.raises(BadTask):
        exploring.advance(broken.pk)
    assert exploring.due() == [broken.pk, tied.pk]
    wire.will(scored(0.2), scored(0.9))
    exploring.go_round()
    assert chosen(tied) == ("b2", State.SUCCEEDED)
    assert "agents.exploring.go_round" in ROUNDS["agents"]


def test_it_ends_the_others_without_a_message(tied: Run) -> None:
    Task.objects.filter(pk=tied.task_id).update(plan={"stop": "first"})
    tied.branches.filter(name="b1").update(verdict={"passed": True, "findings": {}})
    waits = Branch.objects.create(run=tied, name="b3", parent=tied.branches.get(name="main"))
    exploring.go_round()
    waits.refresh_from_db()
    assert waits.state == State.CANCELLED
