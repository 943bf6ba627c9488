import time

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from redis import Redis

from agents.models import State as RunState
from godhand_web.models import User
from godhand_web.pages import machine_filters, wall
from sandboxes import lease, thumbnails
from sandboxes.models import Lease, Machine, State

from .conftest import MachineOf
from .task_rows import child_of, run_in

pytestmark = pytest.mark.usefixtures("redis_url", "image", "thumbnail_of")
PICTURE = b"RIFF....WEBP"


def test_it_shows_the_picture_of_now_and_asks_for_more(
    as_owner: Client, owner: User, machine_of: MachineOf, redis_url: str
) -> None:
    ready, booting = machine_of(owner), machine_of(owner, State.BOOTING)
    thumbnails.keep(ready.pk, PICTURE)
    page = as_owner.get("/machines/wall/").content.decode()
    name = thumbnails.watch([ready.pk])[ready.pk]
    assert f"/machines/{ready.pk}/thumb.webp?v={name}" in page
    with Redis.from_url(redis_url) as redis:
        watched = dict(redis.zrange(thumbnails.WATCHED, 0, -1, withscores=True))
    assert watched[ready.pk.encode()] > time.time()
    assert booting.pk.encode() not in watched


def test_it_tells_the_names_of_the_pictures_that_one_may_see(
    as_owner: Client, owner: User, stranger: User, machine_of: MachineOf
) -> None:
    mine, foreign = machine_of(owner), machine_of(stranger)
    for machine in (mine, foreign):
        thumbnails.keep(machine.pk, PICTURE)
    answer = as_owner.get("/machines/wall/pictures/", {"machines": f"{mine.pk},{foreign.pk},nonsense"})
    assert set(answer.json()["pictures"]) == {mine.pk}
    assert answer.headers["Cache-Control"] == "no-store"
    assert as_owner.get(f"/machines/{foreign.pk}/thumb.webp").status_code == 404


def test_it_lets_a_picture_be_kept_only_under_its_own_name(
    as_owner: Client, owner: User, machine_of: MachineOf
) -> None:
    machine = machine_of(owner)
    at = f"/machines/{machine.pk}/thumb.webp"
    assert as_owner.get(at).status_code == 404
    thumbnails.keep(machine.pk, PICTURE)
    name = thumbnails.watch([machine.pk])[machine.pk]
    assert as_owner.get(at, {"v": name}).headers["Cache-Control"] == "private, max-age=60"
    late = as_owner.get(at, {"v": "another"})
    assert (late.headers["Cache-Control"], late.content) == ("no-store", PICTURE)


def test_it_shows_who_drives_what_is_done_and_who_needs_help_first(
    as_owner: Client, owner: User, machine_of: MachineOf
) -> None:
    plain, driven = machine_of(owner, name="plain"), machine_of(owner, name="driven")
    Lease.objects.create(machine=driven, holder=lease.holder_of(owner))
    run = run_in(owner, RunState.NEEDS_HELP, goal="Pay the invoice")
    helpless = machine_of(owner, State.BOOTING, name="helpless")
    run.branches.update(machine=helpless)
    page = as_owner.get("/machines/wall/").content.decode()
    assert page.index("helpless") < page.index("plain")
    assert "Needs help" in page
    assert "Pay the invoice" in page
    assert page.count("chip human") == 1
    assert plain.name in page


def test_it_says_what_is_done_for_how_long_and_how_far_it_is(as_owner: Client, owner: User) -> None:
    run = run_in(owner, RunState.RUNNING, steps=4, limits={"steps": 8})
    machine = str(run.branches.get().machine_id)
    fresh = as_owner.get("/machines/wall/pictures/", {"machines": machine}).json()["doing"][machine]
    for page in (as_owner.get("/machines/wall/").content.decode(), fresh):
        assert as_owner.get("/").context["running"][0].doing.what in page
        assert 'value="0.5"' in page
        assert "data-elapsed" in page


def test_it_marks_the_machine_of_the_branch_that_asks_and_no_other(as_owner: Client, owner: User) -> None:
    run = run_in(owner, RunState.RUNNING)
    child = child_of(run, RunState.NEEDS_HELP)
    tiles = as_owner.get("/machines/wall/").context["tiles"]
    assert [(tile.machine, tile.needs_help) for tile in tiles] == [
        (child.machine, True),
        (run.branches.get(parent=None).machine, False),
    ]


def test_it_filters_sizes_and_turns_pages(
    as_owner: Client, owner: User, machine_of: MachineOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(machine_filters.SIZES, "l", 2)
    for number in range(3):
        machine_of(owner, name=f"tile-{number}")
    page = as_owner.get("/machines/wall/?size=l").content.decode()
    assert page.count("data-tile=") == 2
    assert "size=l&amp;page=2" in page
    assert as_owner.get("/machines/wall/?size=l&page=2").content.decode().count("data-tile=") == 1
    assert "No matching machines" in as_owner.get("/machines/wall/?q=nowhere").content.decode()


def test_it_teaches_on_an_empty_wall(as_owner: Client, owner: User, machine_of: MachineOf) -> None:
    assert "first computer" in as_owner.get("/machines/wall/").content.decode()
    machine_of(owner, State.DESTROYED)
    assert "No machine is running" in as_owner.get("/machines/wall/").content.decode()


def test_it_has_a_kiosk_without_a_way_elsewhere(
    as_owner: Client, owner: User, machine_of: MachineOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wall, "KIOSK_TILES", 1)
    first, second = machine_of(owner, name="one"), machine_of(owner, name="two")
    pages = [as_owner.get(f"/machines/wall/kiosk/?page={number}").content.decode() for number in (1, 2)]
    assert {machine.pk for machine in (first, second) for page in pages if machine.pk in page} == {first.pk, second.pk}
    for page in pages:
        assert 'data-pages="2"' in page
        assert 'class="rail"' not in page
        assert f'href="/machines/{first.pk}/"' not in page


@pytest.mark.parametrize(
    ("tiles", "grid"), [(0, (1, 1)), (1, (1, 1)), (2, (2, 1)), (4, (2, 2)), (7, (3, 3)), (12, (4, 3))]
)
def test_it_fills_a_screen(tiles: int, grid: tuple[int, int]) -> None:
    assert wall.fitting(tiles) == grid


def test_it_says_nothing_of_pictures_when_redis_is_away(
    as_owner: Client, owner: User, machine_of: MachineOf, settings: LazySettings
) -> None:
    machine_of(owner, name="still-here")
    thumbnails._redis.cache_clear()
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    try:
        assert "still-here" in as_owner.get("/machines/wall/").content.decode()
        assert thumbnails.ports() == set()
    finally:
        thumbnails._redis.cache_clear()


@pytest.mark.parametrize("path", ["/machines/", "/machines/wall/"])
def test_it_asks_the_database_no_more_often_for_many(
    as_owner: Client, owner: User, machine_of: MachineOf, path: str
) -> None:
    machine_of(owner)
    as_owner.get(path)
    with CaptureQueriesContext(connection) as few:
        as_owner.get(path)
    Machine.objects.bulk_create(
        Machine(name=f"m{n}", owner=owner, backend="gvisor", image="desktop", host="here", state=State.READY)
        for n in range(20)
    )
    with CaptureQueriesContext(connection) as many:
        as_owner.get(path)
    assert len(many) <= len(few)
