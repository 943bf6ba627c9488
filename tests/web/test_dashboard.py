"""The dashboard: what needs a person first, then what runs; and a first run that teaches."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from redis import Redis

from agents import api, model_keys
from agents.models import Branch, State, Takeover
from godhand_web.models import User
from sandboxes import lease
from sandboxes.models import Lease, Machine
from sandboxes.models import State as MachineState

from . import task_rows
from .conftest import MachineOf
from .task_rows import QUESTION, child_of, run_in, settle

pytestmark = pytest.mark.usefixtures("redis_url", "image")


def test_it_puts_first_what_needs_a_person(as_owner: Client, owner: User) -> None:
    running = run_in(owner, State.RUNNING, goal="Sort the mail", steps=3)
    asks = run_in(owner, State.NEEDS_HELP, goal="Read the invoices", steps=2)
    rests = run_in(owner, State.PAUSED, goal="Rename the scans", steps=2)
    page = as_owner.get("/")
    assert [card.run for card in page.context["waiting"]] == [asks, rests]
    assert [card.run for card in page.context["running"]] == [running]
    text = page.content.decode()
    assert text.index(QUESTION) < text.index("Rename the scans") < text.index("Sort the mail")
    assert f'href="/tasks/{asks.task_id}/runs/{asks.pk}/"' in text


def test_it_lists_a_branch_that_asks_while_others_of_its_run_go_on(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, goal="Read the invoices", steps=2)
    child = child_of(run, State.NEEDS_HELP)
    page = as_owner.get("/")
    assert [card.branch for card in page.context["waiting"]] == [child]
    assert [card.branch.name for card in page.context["running"]] == ["main"]
    assert f'href="/tasks/{run.task_id}/runs/{run.pk}/?branch=b1"' in page.content.decode()


def test_it_lists_a_run_that_rests_once_however_many_branches_it_has(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.PAUSED, steps=2)
    child_of(run, State.PAUSED)
    assert [card.branch.name for card in as_owner.get("/").context["waiting"]] == ["main"]


def test_it_shows_the_branch_that_goes_on(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, steps=2)
    child = child_of(run, State.RUNNING)
    Branch.objects.filter(run=run, parent=None).update(state=State.FAILED)
    assert [card.branch for card in as_owner.get("/").context["running"]] == [child]


def test_it_warns_of_control_that_is_about_to_end(
    as_owner: Client, owner: User, staff: User, machine_of: MachineOf
) -> None:
    run_in(owner, State.SUCCEEDED, steps=1)
    soon, later = (timezone.now() + timedelta(seconds=seconds) for seconds in (40, 200))
    ending, lasting, foreign = machine_of(owner), machine_of(owner), machine_of(owner)
    for machine, person, expires in ((ending, owner, soon), (lasting, owner, later), (foreign, staff, soon)):
        Lease.objects.create(machine=machine, holder=lease.holder_of(person), expires=expires)
    page = as_owner.get("/")
    assert [held.machine for held in page.context["expiring"]] == [ending]
    assert "Go on driving" in page.content.decode()


def test_it_begins_to_take_over_from_a_card(as_owner: Client, owner: User) -> None:
    run = run_in(owner, State.RUNNING, steps=2)
    at = f"/tasks/{run.task_id}/runs/{run.pk}/"
    assert f'action="{at}take/?branch=main"' in as_owner.get("/").content.decode()
    assert as_owner.post(f"{at}take/?branch=main").headers["Location"] == at
    assert Takeover.objects.get().person == owner


def test_it_names_each_run_of_a_task_that_has_several(as_owner: Client, owner: User) -> None:
    run_in(owner, State.NEEDS_HELP, goal="Read the invoices", steps=1)
    first = run_in(owner, State.NEEDS_HELP, goal="Sort the mail", steps=1)
    settle(api.start(first.task).branches.get(), State.NEEDS_HELP, None)
    running = api.start(first.task).branches.get()
    settle(running, State.RUNNING, task_rows.machine_of(running, State.RUNNING))
    page = as_owner.get("/")
    assert {card.which for card in page.context["waiting"]} == {"", "Run 1 of 3", "Run 2 of 3"}
    assert [card.which for card in page.context["running"]] == ["Run 3 of 3"]
    assert all(page.content.decode().count(f"Run {number} of 3") >= 2 for number in (1, 2, 3))


def test_it_shows_machines_as_they_look_now(
    as_owner: Client, owner: User, machine_of: MachineOf, thumbnail_of: Callable[[Machine], None]
) -> None:
    run_in(owner, State.SUCCEEDED, steps=1)
    alone = machine_of(owner, MachineState.READY)
    thumbnail_of(alone)
    assert f"/machines/{alone.pk}/thumb.webp?v=" in as_owner.get("/").content.decode()


def test_it_says_that_nothing_waits(as_owner: Client, owner: User) -> None:
    run_in(owner, State.SUCCEEDED, steps=1)
    text = as_owner.get("/").content.decode()
    assert "Nothing is waiting for you" in text
    assert "Recent traces" in text


def test_it_shows_what_a_run_does_and_has_used(as_owner: Client, owner: User) -> None:
    run_in(owner, State.RUNNING, steps=4, limits={"steps": 8})
    (card,) = as_owner.get("/").context["running"]
    assert (card.steps, card.most, card.share) == (4, 8, 0.5)
    assert card.doing.who == "Agent is driving"
    assert card.thumb.endswith(".webp")
    assert as_owner.get(card.thumb).status_code == 200


def test_it_counts_the_line(as_owner: Client, owner: User) -> None:
    run_in(owner, State.QUEUED)
    run_in(owner, State.QUEUED)
    queue = as_owner.get("/").context["queue"]
    assert queue.length == 2
    assert queue.oldest >= 0


def test_it_shows_machines_that_no_task_has(as_owner: Client, owner: User, machine_of: MachineOf) -> None:
    run_in(owner, State.RUNNING, steps=1)
    alone = machine_of(owner, MachineState.READY, name="lonely-wren")
    assert [tile.machine for tile in as_owner.get("/").context["machines"]] == [alone]


def test_it_teaches_on_the_first_run(as_owner: Client, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    with Redis.from_url(redis_url) as redis:
        redis.set("alive:agents", 1, ex=60)
        redis.delete("alive:machines")
        page = as_owner.get("/")
    assert "Start the demo" in page.content.decode()
    assert {"chart", "trap"} <= {example.name for example in page.context["examples"]}
    found = {need.name: need for need in page.context["needs"]}
    assert found["redis"].ok
    assert found["agent workers"].ok
    assert not found["machine workers"].ok
    assert "./godhand logs machines" in found["machine workers"].text
    assert not found["model key"].needed
    assert "ffmpeg" in found


def test_it_knows_keys_that_were_typed_into_the_settings(
    as_owner: Client, staff: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in model_keys.names():
        monkeypatch.delenv(name, raising=False)

    def model_key() -> tuple[bool, str]:
        return next((need.ok, need.text) for need in as_owner.get("/").context["needs"] if need.name == "model key")

    assert not model_key()[0]
    model_keys.keep("ANTHROPIC_API_KEY", "sk-ant-example", staff)
    assert model_key() == (True, "there for Anthropic")


def test_it_leaves_the_lesson_out_later(as_owner: Client, owner: User) -> None:
    run_in(owner, State.QUEUED)
    assert "needs" not in as_owner.get("/").context


def test_it_asks_the_database_little(as_owner: Client, owner: User, django_assert_max_num_queries: object) -> None:
    for _ in range(6):
        run_in(owner, State.RUNNING, steps=2)
    with django_assert_max_num_queries(34):  # type: ignore[operator]
        as_owner.get("/")
