import pytest
from django.test import Client

from agents.models import State as RunState
from agents.models import Wish
from godhand_web.models import User
from sandboxes import lifecycle
from sandboxes.models import Event, Machine, State, Tag

from .conftest import MachineOf
from .task_rows import run_in

pytestmark = pytest.mark.usefixtures("redis_url", "image")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What the machines' workers were asked for."""
    asked: list[tuple[object, ...]] = []

    def send(task: str, host: str, *words: str, queue: str = "") -> bool:
        asked.append((task, *words))
        return True

    monkeypatch.setattr(lifecycle, "send", send)
    return asked


def test_it_asks_before_it_does_anything(as_owner: Client, owner: User, machine_of: MachineOf) -> None:
    ready, stopped = machine_of(owner, name="alpha"), machine_of(owner, State.STOPPED, name="beta")
    page = as_owner.get("/machines/bulk/", {"verb": "stop", "machine": [ready.pk, stopped.pk]}).content.decode()
    assert "Stop 1 machine" in page
    assert "It is not running, so there is nothing to stop." in page
    assert f'name="machine" value="{ready.pk}"' in page
    assert f'name="machine" value="{stopped.pk}"' not in page
    assert set(Machine.objects.values_list("state", flat=True)) == {State.READY, State.STOPPED}


@pytest.mark.parametrize(
    ("verb", "state", "becomes", "task"),
    [
        ("stop", State.READY, State.STOPPING, "stop"),
        ("resume", State.STOPPED, State.QUEUED, "create"),
        ("snapshot", State.READY, State.READY, "snapshot"),
        ("destroy", State.BOOTING, State.DESTROYING, "destroy"),
    ],
)
def test_it_does_it_to_each_and_tells_what_came_of_it(
    as_owner: Client,
    owner: User,
    machine_of: MachineOf,
    asked: list[tuple[object, ...]],
    verb: str,
    state: State,
    becomes: State,
    task: str,
) -> None:
    fit, unfit = machine_of(owner, state, name="fit"), machine_of(owner, State.DESTROYED, name="unfit")
    page = as_owner.post("/machines/bulk/", {"verb": verb, "machine": [fit.pk, unfit.pk]}).content.decode()
    assert (page.count("Not done"), page.count("</svg>Done")) == (1, 1)
    fit.refresh_from_db()
    assert fit.state == becomes
    assert [(each[0], each[1]) for each in asked] == [(task, fit.pk)]
    if verb != "snapshot":
        assert Event.objects.filter(machine=fit).latest("pk").text.endswith(", as owner asked")


def test_it_pauses_the_agents_that_are_at_work(as_owner: Client, owner: User, machine_of: MachineOf) -> None:
    branch, idle = run_in(owner, RunState.RUNNING, steps=1).branches.get(), machine_of(owner)
    page = as_owner.post("/machines/bulk/", {"verb": "pause", "machine": [branch.machine_id, idle.pk]}).content.decode()
    assert "Its agent pauses." in page
    assert "No agent is at work there" in page
    branch.refresh_from_db()
    assert branch.wish == Wish.PAUSE


def test_it_tags_many_at_once(as_owner: Client, owner: User, machine_of: MachineOf) -> None:
    first, second = machine_of(owner, name="first"), machine_of(owner, State.DESTROYED, name="second")
    Tag.objects.create(machine=first, name="old")
    said = {"verb": "tag", "machine": [first.pk, second.pk], "add": "Night, batch-7", "remove": "old"}
    assert as_owner.post("/machines/bulk/", said).content.decode().count("Its tags are changed.") == 2
    assert set(first.tags.values_list("name", flat=True)) == {"night", "batch-7"}
    refused = as_owner.post("/machines/bulk/", {**said, "add": "x" * 41})
    assert "A tag has at most 40 characters" in refused.content.decode()
    assert Tag.objects.count() == 4


def test_it_does_nothing_to_any_when_one_is_somebody_elses(
    owner: User, stranger: User, machine_of: MachineOf, asked: list[tuple[object, ...]]
) -> None:
    mine, foreign = machine_of(stranger), machine_of(owner)
    client = Client()
    client.force_login(stranger)
    for method in (client.get, client.post):
        assert method("/machines/bulk/", {"verb": "destroy", "machine": [mine.pk, foreign.pk]}).status_code == 404
    assert asked == []
    assert set(Machine.objects.values_list("state", flat=True)) == {State.READY}


def test_it_asks_for_each_machine_whether_the_person_may(
    as_owner: Client,
    owner: User,
    machine_of: MachineOf,
    asked: list[tuple[object, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown, mine = machine_of(owner, name="only shown"), machine_of(owner, name="mine")
    monkeypatch.setattr("godhand_web.pages.bulk.may_change", lambda person, machine: machine.pk == mine.pk)
    chosen = {"verb": "destroy", "machine": [shown.pk, mine.pk]}
    assert "Destroy 1 machine" in as_owner.get("/machines/bulk/", chosen).content.decode()
    assert "not change it" in as_owner.post("/machines/bulk/", chosen).content.decode()
    assert asked == [("destroy", mine.pk)]


@pytest.mark.parametrize(
    ("back", "leads"), [("/machines/wall/?tag=a", "/machines/wall/?tag=a"), ("//evil.test/", "/machines/")]
)
def test_it_leads_back_to_where_one_came_from_and_nowhere_else(as_owner: Client, back: str, leads: str) -> None:
    page = as_owner.get("/machines/bulk/", {"verb": "stop", "back": back}).content.decode()
    assert f'href="{leads}"' in page
    assert 'href="//evil' not in page
    assert as_owner.post("/machines/bulk/", {"verb": "nonsense"}).status_code == 400
