from collections.abc import Callable

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from django.test import Client
from redis import Redis

from agents import api
from agents.models import State as RunState
from godhand_web.models import User
from godhand_web.pages import machines
from sandboxes import thumbnails
from sandboxes.limits import Limits
from sandboxes.models import Machine, State, Tag

from .conftest import MachineOf
from .task_rows import run_in

pytestmark = pytest.mark.usefixtures("redis_url", "image")


def test_it_makes_a_machine_and_shows_it(as_owner: Client) -> None:
    response = as_owner.post("/machines/new/", {"image": "desktop", "name": "  my first "})
    machine = Machine.objects.get()
    assert response.headers["Location"] == f"/machines/{machine.pk}/"
    assert (machine.name, machine.state) == ("my first", State.QUEUED)


def test_it_makes_a_machine_with_limits_of_its_own(as_owner: Client) -> None:
    as_owner.post("/machines/new/", {"image": "desktop", "cpus": "0.5", "memory_mib": "1024", "wall_minutes": "30"})
    as_owner.post("/machines/new/", {"image": "desktop", "cpus": ""})
    usual, chosen = Machine.objects.order_by("-created_at")
    assert usual.limits == {}
    assert Limits(**chosen.limits) == Limits(cpus=0.5, memory_mib=1024, wall_minutes=30)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({}, "Choose an image that is built."),
        ({"image": "office"}, "That image is not built on this host."),
        ({"image": "../../etc"}, "That image is not built on this host."),
        ({"image": "desktop", "name": "x" * 61}, "Keep the name within 60 characters; this one has 61."),
        ({"image": "desktop", "name": "a\u202eb"}, "a character that cannot be shown"),
        ({"image": "desktop", "memory_mib": "100"}, "Memory, MiB: a number from 256 to 65536."),
        ({"image": "desktop", "cpus": "inf"}, "CPUs: a number from 0.1 to 64."),
        ({"image": "desktop", "wall_minutes": "soon"}, "Minutes on: a number from 1 to 1000000."),
    ],
)
def test_it_says_what_is_wrong_with_a_request(as_owner: Client, fields: dict[str, str], complaint: str) -> None:
    response = as_owner.post("/machines/new/", fields)
    assert response.status_code == 400
    assert complaint in response.content.decode()
    assert not Machine.objects.exists()


@pytest.mark.parametrize("name", ["x" * 61, "a\u202eb"])
def test_it_takes_the_same_names_on_the_command_line(owner: User, name: str) -> None:
    with pytest.raises(CommandError, match=r"within 60 characters|cannot be shown"):
        call_command("makemachine", name=name)
    assert not Machine.objects.exists()


def test_it_refuses_when_all_slots_are_used(
    as_owner: Client, owner: User, machine_of: MachineOf, settings: LazySettings
) -> None:
    settings.MACHINE_SLOTS = 1
    machine_of(owner)
    assert "All 1 machine slots are in use" in as_owner.get("/machines/new/").content.decode()
    response = as_owner.post("/machines/new/", {"image": "desktop"})
    assert response.status_code == 400
    assert "All 1 machine slots are in use" in response.content.decode()


def test_it_shows_how_to_build_what_is_not_built(as_owner: Client) -> None:
    for page in ("/", "/machines/new/", "/images/"):
        assert "./godhand image build office" in as_owner.get(page).content.decode()


def test_it_filters_by_state(as_owner: Client, owner: User, machine_of: MachineOf) -> None:
    for state in State:
        machine_of(owner, state, name=f"the-{state}-one")
    shown = as_owner.get("/machines/?state=ready").content.decode()
    assert "the-ready-one" in shown
    assert "the-booting-one" not in shown
    ended = as_owner.get("/machines/?tab=ended").content.decode()
    assert "the-lost-one" in ended
    assert "the-ready-one" not in ended


def test_it_turns_pages(as_owner: Client, owner: User, machine_of: MachineOf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machines, "PER_PAGE", 2)
    for number in range(3):
        machine_of(owner, State.DESTROYED, name=f"number-{number}")
    assert "number-0" in as_owner.get("/machines/?tab=ended&page=2").content.decode()
    for nonsense in ("0", "99", "x"):
        assert as_owner.get(f"/machines/?tab=ended&page={nonsense}").status_code == 200


def test_it_teaches_on_first_sight(as_owner: Client) -> None:
    assert "first task" in as_owner.get("/").content.decode()


def test_it_finds_machines_by_name_id_image_owner_and_tag(staff: User, owner: User, machine_of: MachineOf) -> None:
    found, other = machine_of(owner, name="calm-heron"), machine_of(staff, name="swift-owl")
    Tag.objects.create(machine=found, name="invoices")
    client = Client()
    client.force_login(staff)
    for query in (
        "q=HERON",
        f"q={found.pk}",
        "q=owner",
        "q=invoices",
        "tag=invoices",
        "owner=owner",
        "q=heron&image=desktop",
    ):
        page = client.get(f"/machines/?{query}").content.decode()
        assert "calm-heron" in page, query
        assert other.name not in page, query
    assert "No matching machines" in client.get("/machines/?image=office").content.decode()


@pytest.mark.parametrize(
    ("sort", "first"), [("newest", "b-second"), ("oldest", "a-first"), ("name", "a-first"), ("nonsense", "b-second")]
)
def test_it_sorts(as_owner: Client, owner: User, machine_of: MachineOf, sort: str, first: str) -> None:
    names = [machine_of(owner, name=name).name for name in ("a-first", "b-second")]
    page = as_owner.get(f"/machines/?sort={sort}").content.decode()
    assert min(names, key=page.index) == first


def test_it_shows_limits_and_what_a_machine_is_filed_under(
    as_owner: Client, owner: User, machine_of: MachineOf
) -> None:
    machine = machine_of(owner)
    Machine.objects.update(handle={"id": machine.pk, "options": {"limits": {"cpus": 2, "memory_mib": 4096}}})
    as_owner.post(f"/machines/{machine.pk}/tags/", {"add": "night batch"})
    page = as_owner.get("/machines/").content.decode()
    for words in ("2 CPU", "4.0\xa0GB", "night", "batch"):
        assert words in page
    as_owner.post(f"/machines/{machine.pk}/tags/", {"remove": "night"})
    assert [tag.name for tag in machine.tags.all()] == ["batch"]
    assert "Tags by owner" in as_owner.get(f"/machines/{machine.pk}/").content.decode()
    resources = as_owner.get(f"/machines/{machine.pk}/?tab=resources").content.decode()
    assert "does not tell what it uses" in resources


def test_it_shows_what_machines_look_like_and_keeps_that_coming(
    as_owner: Client, owner: User, machine_of: MachineOf, thumbnail_of: Callable[[Machine], None], redis_url: str
) -> None:
    ready, booting = machine_of(owner), machine_of(owner, State.BOOTING)
    thumbnail_of(ready)
    page = as_owner.get("/machines/").content.decode()
    assert f"/machines/{ready.pk}/thumb.webp?v=" in page
    assert f"/machines/{booting.pk}/thumb.webp" not in page
    with Redis.from_url(redis_url) as redis:
        assert redis.zscore(thumbnails.WATCHED, ready.pk)
        assert not redis.zscore(thumbnails.WATCHED, booting.pk)


def test_it_shows_the_last_step_where_there_is_no_picture_of_now(as_owner: Client, owner: User) -> None:
    run = run_in(owner, RunState.NEEDS_HELP, steps=2)
    assert f'<img src="/traces/{run.trace_id}/' in as_owner.get("/machines/").content.decode()


def test_it_says_what_is_done_on_a_machine_to_those_who_may_know(
    as_owner: Client, owner: User, staff: User, stranger: User
) -> None:
    run = run_in(owner, RunState.NEEDS_HELP, goal="Pay the invoice", steps=1)
    api.start(run.task)
    Machine.objects.update(owner=stranger)
    mine, theirs = Client(), Client()
    mine.force_login(staff)
    theirs.force_login(stranger)
    shown = mine.get("/machines/").content.decode()
    for words in ("Pay the invoice", "Needs help", "Run 1 of 2"):
        assert words in shown
    assert "Pay the invoice" not in theirs.get("/machines/").content.decode()
