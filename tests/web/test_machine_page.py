from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import LazySettings
from django.test import Client
from redis import Redis
from redis.exceptions import ConnectionError as NoRedis

from godhand_web import access
from godhand_web.models import User
from sandboxes.gate import tickets
from sandboxes.models import Event, Machine, Screenshot, State

from .conftest import MachineOf

pytestmark = pytest.mark.usefixtures("redis_url", "image")


def test_it_tells_the_way_to_the_desktop(as_owner: Client, owner: User, machine_of: MachineOf) -> None:
    machine = machine_of(owner, State.BOOTING)
    page = as_owner.get(f"/machines/{machine.pk}/").content.decode()
    for stage in ("Queued", "Network and disk", "Booting", "Desktop ready"):
        assert stage in page


def test_it_tells_its_story_where_there_are_no_logs_yet(as_owner: Client, owner: User, machine_of: MachineOf) -> None:
    machine = machine_of(owner, State.BOOTING)
    Event.objects.create(machine=machine, state=State.BOOTING, text="Its network is there")
    page = as_owner.get(f"/machines/{machine.pk}/?tab=logs").content.decode()
    assert "do not run yet" in page
    assert "Its network is there" in page


@pytest.mark.parametrize("state", [State.FAILED, State.LOST])
def test_it_says_what_happened_and_what_to_do(
    as_owner: Client, owner: User, machine_of: MachineOf, state: State
) -> None:
    machine = machine_of(owner, state, detail="The host was restarted.")
    page = as_owner.get(f"/machines/{machine.pk}/").content.decode()
    assert "The host was restarted." in page
    assert "/machines/new/?image=desktop" in page


def test_it_answers_with_the_regions_alone_when_asked(as_owner: Client, owner: User, machine_of: MachineOf) -> None:
    machine = machine_of(owner)
    fragment = as_owner.get(f"/machines/{machine.pk}/", headers={"X-Fragment": "1"}).content.decode()
    assert "<html" not in fragment
    for region in ("state", "actions", "tools", "veil", "strip", "side", "places", "capacity"):
        assert f'data-live="{region}"' in fragment


def test_it_destroys_once(as_owner: Client, owner: User, machine_of: MachineOf) -> None:
    machine = machine_of(owner)
    assert "being destroyed" in as_owner.post(f"/machines/{machine.pk}/destroy/", follow=True).content.decode()
    assert "ended already" in as_owner.post(f"/machines/{machine.pk}/destroy/", follow=True).content.decode()


@pytest.mark.parametrize("role", ["view", "drive"])
def test_it_gives_a_ticket_for_the_role_that_was_asked(
    as_owner: Client, owner: User, machine_of: MachineOf, redis_url: str, role: access.Role
) -> None:
    machine = machine_of(owner)
    url = urlsplit(as_owner.post(f"/machines/{machine.pk}/ticket/", {"role": role}).json()["url"])
    assert (url.scheme, url.hostname, url.path) == ("ws", "testserver", f"/vnc/{machine.pk}")
    with Redis.from_url(redis_url) as redis:
        ticket = tickets.redeem(redis, parse_qs(url.query)["ticket"][0])
    assert ticket == tickets.Ticket(machine.pk, str(owner.pk), role)


def test_it_points_to_the_gate_it_is_told_of(
    as_owner: Client, owner: User, machine_of: MachineOf, settings: LazySettings
) -> None:
    settings.GATE_URL = "wss://gate.test/door/"
    machine = machine_of(owner)
    response = as_owner.post(f"/machines/{machine.pk}/ticket/", {"role": "view"})
    assert response.json()["url"].startswith(f"wss://gate.test/door/vnc/{machine.pk}?ticket=")
    assert "connect-src 'self' wss://gate.test;" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize(("role", "status"), [("view", 200), ("drive", 403), ("root", 400), ("", 400)])
def test_it_refuses_roles_beyond_the_persons_own(
    as_owner: Client, owner: User, machine_of: MachineOf, monkeypatch: pytest.MonkeyPatch, role: str, status: int
) -> None:
    monkeypatch.setattr(access, "may_change", lambda person, machine: False)
    machine = machine_of(owner)
    assert as_owner.post(f"/machines/{machine.pk}/ticket/", {"role": role}).status_code == status


def test_it_has_no_ticket_for_a_desktop_that_is_not_there(as_owner: Client, owner: User, machine_of: MachineOf) -> None:
    machine = machine_of(owner, State.BOOTING)
    assert as_owner.post(f"/machines/{machine.pk}/ticket/", {"role": "view"}).status_code == 409


def test_it_serves_pictures_for_ever_and_to_their_owner_only(
    as_owner: Client, owner: User, machine_of: MachineOf, screenshot_of: Callable[[Machine], Screenshot]
) -> None:
    shot, other = screenshot_of(machine_of(owner)), machine_of(owner)
    response = as_owner.get(f"/machines/{shot.machine_id}/screenshots/{shot.sha256}.webp")
    assert response.headers["Content-Type"] == "image/webp"
    assert response.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert as_owner.get(f"/machines/{other.pk}/screenshots/{shot.sha256}.webp").status_code == 404
    assert as_owner.get(f"/machines/{other.pk}/screenshots/{shot.pk}/").status_code == 404


def test_it_says_so_when_tickets_cannot_be_made(
    as_owner: Client, owner: User, machine_of: MachineOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_answer(*_: object) -> str:
        raise NoRedis("Redis does not answer")

    monkeypatch.setattr("godhand_web.pages.machine.issue", no_answer)
    answer = as_owner.post(f"/machines/{machine_of(owner).pk}/ticket/", {"role": "view"})
    assert answer.status_code == 503
    assert "Redis does not answer" in answer.json()["error"]
