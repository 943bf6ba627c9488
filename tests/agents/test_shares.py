"""What several branches of a run may use: fair shares of what is left, fork after fork."""

from importlib import import_module

import pytest
from django.apps import apps

from agents import api
from agents.branching import Way, open_branches
from agents.budget import Limits
from agents.endings import LimitReached
from agents.errors import BadTask
from agents.history import Conversation
from agents.leases import claim, take_over
from agents.models import Branch, Run, State
from agents.runner import conversation, known_to, recorder_for
from agents.watching import RowWatch
from godhand_web.models import User
from sandboxes.models import Machine, Snapshot
from sandboxes.models import State as MachineState
from traces.payloads import EventId
from traces.queries import head_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]


def spend(branch: Branch, money: float, tokens: int = 100) -> None:
    """One more reply, at that price."""
    recorder_for(branch, take_over(branch.pk), known_to(branch)).reply(
        None, turn=1, text="Hm.", reasoning="", cost=money, provider="scripted", model="", calls=[],
        usage={"input": tokens, "output": 0, "cache_read": 0, "cache_write": 0},
    )  # fmt: skip


def forked(parent: Branch, ways: int = 1, **limits: float) -> list[Branch]:
    """From its head, as if the machine had been saved there."""
    head, snapshot = head_of(parent.run.trace_id, parent.name), Snapshot.objects.get()
    assert head
    return open_branches(parent, EventId(head), snapshot.pk, [Way(str(way), limits=limits) for way in range(ways)])


def shares(run: Run, name: str = "money") -> list[float]:
    going = run.branches.filter(state=State.QUEUED).order_by("created_at")
    return [round(branch.share[name], 3) for branch in going]


@pytest.fixture
def main(owner: User) -> Branch:
    """It has spent a dollar of ten and ended; its machine was saved."""
    run = api.submit(
        owner, "Do it.", provider="scripted", options={"script": "chart"}, limits={"money": 10.0, "tokens": 1000}
    )
    branch = run.branches.get()
    machine = Machine.objects.create(
        name="main", owner=owner, backend="gvisor", image="desktop", host="nowhere", state=MachineState.READY
    )
    Snapshot.objects.create(
        id="saved", owner=owner, machine=machine, label="after 1 steps", backend="gvisor", image="desktop",
        image_digest="", host="nowhere", keeps="disk+memory", size=1,
    )  # fmt: skip
    spend(branch, 1.0)
    recorder = recorder_for(branch, take_over(branch.pk), known_to(branch))
    recorder.snapshot(snapshot="saved", backend="gvisor", keeps="disk+memory", size=1, ms=1, label="after 1 steps")
    Branch.objects.filter(pk=branch.pk).update(state=State.FAILED, machine=machine)
    branch.refresh_from_db()
    return branch


def test_it_shares_what_is_left_fairly_at_a_second_fork(main: Branch) -> None:
    children = forked(main, 3)
    assert shares(main.run) == [4.0, 4.0, 4.0]
    for child in children:
        spend(child, 1.5)
    forked(main)
    assert shares(main.run) == [3.625, 3.625, 3.625, 2.125]
    assert shares(main.run, "tokens") == [350, 350, 350, 250]


def test_it_keeps_a_persons_own_limits_at_every_fork(main: Branch) -> None:
    (own,) = forked(main, money=21.0, steps=40)
    assert (own.limits, own.share["money"]) == ({"money": 21.0, "steps": 40}, 21.0)
    (other,) = forked(main)
    own.refresh_from_db()
    assert (own.limits, own.share["money"], other.share["money"]) == ({"money": 21.0, "steps": 40}, 11.0, 5.5)


def test_it_stops_a_branch_at_its_share(main: Branch) -> None:
    child, _ = forked(main, 2)
    spend(child, 4.6)
    lease = claim(child.pk)
    assert lease
    with pytest.raises(LimitReached, match=r"limit of 5\.5 money"):
        RowWatch(child, lease).look(conversation(child))
    RowWatch(child, lease).look(Conversation())


def test_it_shares_out_what_a_person_changed_for_one_branch(main: Branch) -> None:
    one, two = forked(main, 2)
    api.change_limits(one, {"money": 3.0, "steps": 9})
    assert (one.share["money"], main.run.task.limits["money"]) == (3.0, 10.0)
    assert Limits.from_json(Run.objects.get(pk=main.run_id).task.limits).steps == 9
    forked(main)
    for branch in (one, two):
        branch.refresh_from_db()
    assert (round(one.share["money"], 3), two.share["money"]) == (2.333, 4.0)


@pytest.mark.parametrize(("money", "tokens", "said"), [(9.5, 1, "money must be above"), (0.1, 900, "1000 tokens")])
def test_it_begins_nothing_that_would_end_at_once(main: Branch, money: float, tokens: int, said: str) -> None:
    spend(main, money, tokens)
    with pytest.raises(BadTask, match=said):
        api.branch_from(main.run, 2, [Way("on")])
    assert api.branch_from(main.run, 2, [Way("on", limits={"money": 20.0, "tokens": 5000})])


def test_it_parts_the_shares_of_earlier_versions_from_limits(main: Branch) -> None:
    change = import_module("agents.migrations.0008_shares")
    mixed = {"steps": 40, "tokens": 700, "money": 4.0}
    Branch.objects.filter(pk=main.pk).update(limits=mixed)
    change.part(apps, None)
    main.refresh_from_db()
    assert (main.limits, main.share) == ({"steps": 40}, {"tokens": 700, "money": 4.0})
    change.join(apps, None)
    main.refresh_from_db()
    assert main.limits == mixed
