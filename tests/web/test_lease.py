"""Who may drive, by the pages' own verbs. The machine's address answers nobody: nothing here needs a desktop."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.test import Client
from django.utils import timezone

from agents.models import Branch, State, Takeover
from godhand_web.models import User
from godhand_web.pages.control import facts_of
from sandboxes import lease
from sandboxes.errors import Taken
from sandboxes.models import Event, Lease, Machine
from sandboxes.publish import machine_group
from traces.models import Event as Step

from .conftest import MachineOf
from .task_rows import run_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url", "image")]
NOWHERE = {"address": "127.0.0.1", "token": "t" * 32}
Act = Callable[..., dict[str, Any]]


@pytest.fixture
def machine_row(machine_of: MachineOf, owner: User) -> Machine:
    made = machine_of(owner)
    made.handle = {"id": made.pk, **NOWHERE}
    made.save()
    return made


@pytest.fixture
def act(machine_row: Machine) -> Act:
    def act(person: User, verb: str, status: int = 200, **fields: str) -> dict[str, Any]:
        client = Client()
        client.force_login(person)
        answer = client.post(f"/machines/{machine_row.pk}/lease/{verb}/", fields)
        assert answer.status_code == status, answer.content
        return dict(answer.json())

    return act


def may_send(machine: Machine, person: User) -> bool:
    try:
        with lease.fence_of(machine.pk).passing(lease.holder_of(person)):
            return True
    except Taken:
        return False


def test_it_gives_the_machine_to_one_person_at_a_time(act: Act, machine_row: Machine, owner: User, staff: User) -> None:
    assert act(owner, "take")["mode"] == "you"
    assert act(staff, "take") | {"mode": "other", "name": "owner"} == act(staff, "take")
    assert (may_send(machine_row, owner), may_send(machine_row, staff)) == (True, False)
    assert act(owner, "back")["mode"] == "nobody"
    assert (may_send(machine_row, owner), may_send(machine_row, staff)) == (False, False)


def test_it_calls_nobody_the_driver_whose_keys_would_not_arrive_yet(
    machine_row: Machine, owner: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever drove before may still be sending; a page that is drawn meanwhile must not take keys."""
    seen: list[tuple[str, bool]] = []

    def look(machine: Machine) -> None:
        seen.append((facts_of(owner, machine)["mode"], may_send(machine, owner)))

    monkeypatch.setattr(lease, "_wait_for_input", look)
    lease.change(lease.of(machine_row.pk), lease.holder_of(owner))
    look(machine_row)
    assert seen == [("nobody", False), ("you", True)]


def test_it_grows_the_epoch_with_every_change(act: Act, owner: User, staff: User) -> None:
    epochs = [act(*step)["epoch"] for step in ((owner, "take"), (owner, "back"), (staff, "take"), (owner, "force"))]
    assert epochs == [1, 2, 3, 4]


def test_it_lets_one_change_win_when_two_come_at_once(machine_row: Machine, owner: User, staff: User) -> None:
    seen, same = lease.of(machine_row.pk), lease.of(machine_row.pk)
    assert lease.change(seen, lease.holder_of(owner))
    assert not lease.change(same, lease.holder_of(staff))
    assert same.holder == lease.holder_of(owner)


def test_it_hands_over_when_asked_and_only_then(act: Act, machine_row: Machine, owner: User, staff: User) -> None:
    act(staff, "ask", 409)
    act(owner, "take")
    assert act(staff, "ask")["asking"]
    assert act(owner, "decline")["asker"] == ""
    act(owner, "accept", 409)
    act(staff, "ask")
    assert act(owner, "accept")["name"] == "staff"
    assert (may_send(machine_row, owner), may_send(machine_row, staff)) == (False, True)


def test_it_is_taken_by_force_from_whoever_has_it(act: Act, machine_row: Machine, owner: User, staff: User) -> None:
    act(staff, "take")
    assert act(owner, "force")["mode"] == "you"
    assert not may_send(machine_row, staff)
    assert "You are not driving any more." in act(staff, "beat", 409)["error"]
    assert Event.objects.filter(machine=machine_row, text="owner took control from staff").exists()


def test_it_tells_the_loser_before_it_waits_for_anything(machine_row: Machine, owner: User, staff: User) -> None:
    """The loser is in the midst of sending, so nobody else can send yet; they are told all the same."""
    lease.change(lease.of(machine_row.pk), lease.holder_of(owner))

    async def take() -> list[str]:
        layer = get_channel_layer()
        assert layer is not None
        channel = await layer.new_channel()
        await layer.group_add(machine_group(machine_row.pk), channel)
        with lease.fence_of(machine_row.pk).passing(lease.holder_of(owner)):
            held = await database_sync_to_async(lease.of)(machine_row.pk)
            taking = asyncio.create_task(database_sync_to_async(lease.change)(held, lease.holder_of(staff)))
            told = [await asyncio.wait_for(layer.receive(channel), 5)]
            assert not taking.done()
        assert await taking
        told.append(await asyncio.wait_for(layer.receive(channel), 5))
        assert {hint["holder"] for hint in told} == {lease.holder_of(staff)}
        return [hint["type"] for hint in told]

    assert async_to_sync(take)() == ["lease.changing", "lease.changed"]
    assert (may_send(machine_row, owner), may_send(machine_row, staff)) == (False, True)


def test_it_lasts_five_minutes_and_longer_for_who_says_so(act: Act, machine_row: Machine, owner: User) -> None:
    assert act(owner, "take")["left"] == 300
    Lease.objects.filter(pk=machine_row.pk).update(expires=timezone.now() + timedelta(seconds=40))
    assert act(owner, "beat")["left"] <= 40
    assert act(owner, "beat", longer="1")["left"] == 300


@pytest.mark.parametrize("column", ["expires", "seen_at"])
def test_it_ends_with_the_time_and_with_the_page(act: Act, machine_row: Machine, owner: User, column: str) -> None:
    act(owner, "take")
    Lease.objects.filter(pk=machine_row.pk).update(**{column: timezone.now() - timedelta(seconds=46)})
    lease.settle(lease.of(machine_row.pk))
    assert not may_send(machine_row, owner)
    act(owner, "beat", 409)
    assert lease.of(machine_row.pk).holder == ""


def test_it_has_no_verb_for_strangers_and_none_by_other_names(
    act: Act, machine_row: Machine, owner: User, stranger: User
) -> None:
    client = Client()
    client.force_login(stranger)
    assert client.post(f"/machines/{machine_row.pk}/lease/take/").status_code == 404
    assert client.get(f"/machines/{machine_row.pk}/lease/").status_code == 404
    client.force_login(owner)
    assert client.post(f"/machines/{machine_row.pk}/lease/steal/").status_code == 404


def test_it_refuses_a_desktop_that_is_not_there(act: Act, machine_row: Machine, owner: User) -> None:
    Machine.objects.filter(pk=machine_row.pk).update(state="booting")
    assert act(owner, "take", 409)["error"] == "The desktop is not there now."


def test_it_interrupts_after_a_second_and_hands_back_as_told(
    act: Act, machine_row: Machine, owner: User, settings: Any
) -> None:
    settings.TAKEOVER_SNAPSHOTS = False
    branch = running(machine_row, owner)
    assert act(owner, "take")["stage"] == "finishing"
    assert act(owner, "take", interrupt="1")["stage"] == "finishing"
    Takeover.objects.update(asked_at=timezone.now() - timedelta(seconds=2))
    assert act(owner, "take", interrupt="1")["mode"] == "you"
    assert "nothing to go back to" in act(owner, "back", 409, choice="branch")["error"]
    act(owner, "back", 409, choice="dance")
    assert act(owner, "back", choice="stop", note=" Enough. ")["mode"] == "agent"
    branch.refresh_from_db()
    assert (branch.state, branch.wish) == (State.QUEUED, "cancel")
    assert Takeover.objects.get().note == "Enough."


@pytest.mark.parametrize(("waited", "mode"), [(20, "agent"), (31, "you")])
def test_it_waits_for_an_action_as_long_as_the_settings_say(
    act: Act, machine_row: Machine, owner: User, settings: Any, waited: int, mode: str
) -> None:
    settings.TAKEOVER_SNAPSHOTS, settings.TAKEOVER_SECONDS = False, 30
    running(machine_row, owner)
    act(owner, "take")
    Takeover.objects.update(asked_at=timezone.now() - timedelta(seconds=waited))
    assert act(owner, "take")["mode"] == mode


def test_it_lets_nobody_else_in_while_one_is_taking_over(
    act: Act, machine_row: Machine, owner: User, staff: User
) -> None:
    running(machine_row, owner)
    act(owner, "take")
    told = act(staff, "take")
    assert (told["mode"], told["name"], told["stage"]) == ("agent", "owner", "")
    act(owner, "withdraw")
    assert act(staff, "take")["stage"] == "finishing"


def test_it_writes_into_the_trace_who_passed_control_to_whom(
    act: Act, machine_row: Machine, owner: User, staff: User, settings: Any
) -> None:
    settings.TAKEOVER_SNAPSHOTS = False
    branch = running(machine_row, owner)
    taken(act, owner)
    act(staff, "ask")
    act(owner, "accept")
    act(owner, "force")
    told = Step.objects.filter(trace=branch.run.trace_id, kind="takeover", name="passed control").order_by("seq")
    assert [(step.actor, step.data["who"], step.data["text"]) for step in told] == [
        ("human", "staff", "owner gave control to staff"),
        ("human", "owner", "owner took control from staff"),
    ]


def test_it_knows_the_screen_from_before_and_whether_it_records(
    act: Act, machine_row: Machine, owner: User, stranger: User, settings: Any
) -> None:
    settings.TAKEOVER_SNAPSHOTS = False
    running(machine_row, owner)
    facts = taken(act, owner, record="1")
    assert facts["recorded"]
    assert not Takeover.objects.get().private
    client = Client()
    client.force_login(owner)
    assert client.get(facts["before"]).headers["Content-Type"] == "image/webp"
    client.force_login(stranger)
    assert client.get(facts["before"]).status_code == 404


def taken(act: Act, person: User, **fields: str) -> dict[str, Any]:
    """From an agent that does not answer."""
    act(person, "take", **fields)
    Takeover.objects.update(asked_at=timezone.now() - timedelta(seconds=2))
    facts = act(person, "take", interrupt="1", **fields)
    assert facts["mode"] == "you"
    return facts


def running(machine: Machine, owner: User) -> Branch:
    run = run_in(owner, State.RUNNING, steps=2)
    Branch.objects.filter(run=run).update(machine=machine)
    assert lease.grip(machine)
    return run.branches.get()
