"""Every address, socket and ticket for everybody. A new one without a row in `access_table.py` fails.

A row says what GET and POST answer to, in this order: somebody anonymous, a stranger, a viewer of a team that the owner
is in, an operator of it whose own role is viewer (the onlooker), an operator of it, the owner, and an administrator of
the installation. The words are in `access_rows.py`:

    "wall": page(ALL)                            whoever is logged in may look; sending a form is 405
    "machine": page(SEEN)                        the team may look; a stranger gets 404
    "stop_machine": verb(CHANGED)                operator and up; anybody else gets 404
    "send_note": verb(CHANGED, text="Go on.")    with the fields of its form
    "settings": form(ALL, ALL_ASKED)             a page with a form; 400 is a form that asks again
    "x": Row("login 404 403 403 200 200 200", NO)    or seven answers, `login` being the way to the login page

`verb` and `form` take the fields that are sent, `page` those of the query. What an address needs to name is in
`known`, below, or in `access_addresses.py`.
"""

import re
from collections.abc import Callable
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from channels.testing import WebsocketCommunicator
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import resolve

from agents.models import Run, State, Task
from godhand_web import gate
from godhand_web.asgi import application
from godhand_web.models import LoginLink, Membership, Team, User
from godhand_web.routing import sockets
from godhand_web.urls import urlpatterns
from sandboxes.gate.tickets import Ticket
from sandboxes.models import Machine, Screenshot, Snapshot
from traces.events import Actor, Kind
from traces.models import Job, Remark, Share, Trace
from traces.queries import head_of
from traces.recorder import DatabaseRecorder

from .access_addresses import address_of, client_of, everybody
from .access_rows import PEOPLE
from .access_table import MATRIX, SOCKETS, TICKETS
from .axed import AXED
from .conftest import MachineOf, SnapshotOf
from .example import example_trace
from .task_rows import run_in
from .trace_addresses import about_a_trace

pytestmark = pytest.mark.usefixtures("redis_url", "image", "workers", "gate")


@pytest.fixture
def people(owner: User) -> dict[str, User]:
    cache.clear()
    return everybody()


@pytest.fixture
def address(
    owner: User,
    machine_of: MachineOf,
    screenshot_of: Callable[[Machine], Screenshot],
    snapshot_of: SnapshotOf,
    thumbnail_of: Callable[[Machine], None],
) -> Callable[[str], str]:
    """The address of a page about a machine of the owner's."""
    shot = screenshot_of(machine_of(owner))
    thumbnail_of(shot.machine)
    known = {
        "machine_id": shot.machine_id,
        "snapshot_id": snapshot_of(shot.machine).pk,
        "number": shot.pk,
        "sha256": shot.sha256,
        "kind": "scripted",
        "verb": "decline",
        "name": "desktop",
        "digest": "0123456789abcdef",
        "file": "style.css",
    }
    return lambda name: address_of(name, known, owner)


def test_it_has_a_row_for_every_address_and_socket() -> None:
    assert {pattern.name for pattern in urlpatterns} == set(MATRIX)
    assert [str(socket.pattern) for socket in sockets] == [*SOCKETS]


def asked(client: Client, method: str, address: str, fields: Any) -> str:
    response = getattr(client, method)(address, fields)
    led_to = response.headers.get("Location", "")
    return "login" if led_to.startswith("/login/?next=") else str(response.status_code)


def undone(client: Client, address: str, fields: Any) -> str:
    """What a form answers, and nothing of what it did."""
    with transaction.atomic():
        answer = asked(client, "post", address, fields)
        transaction.set_rollback(True)
    return answer


@pytest.mark.parametrize("name", MATRIX)
def test_it_answers_everybody_as_the_table_says(
    name: str, address: Callable[[str], str], people: dict[str, User]
) -> None:
    row, at = MATRIX[name], address(name)
    clients = [client_of(people.get(who)) for who in PEOPLE]
    before = what_is_there()
    found = [asked(client, "get", at, row.ask) for client in clients]
    assert dict(zip(PEOPLE, found, strict=True)) == dict(zip(PEOPLE, row.get.split(), strict=True)), "GET"
    assert name == "open_share" or what_is_there() == before, "looking changed something"
    found = [undone(client, at, row.send) for client in clients]
    assert dict(zip(PEOPLE, found, strict=True)) == dict(zip(PEOPLE, row.post.split(), strict=True)), "POST"
    seen_by = next((client for client, word in zip(clients, row.get.split(), strict=True) if word == "200"), None)
    if seen_by and shows_a_page(seen_by, at, row.ask):
        assert resolve(at).url_name in AXED, "axe looks at this page in no test"
    if set(row.post.split()) - {"login", "405"}:
        assert refused_without_token(clients[0 if "login" in name else PEOPLE.index("owner")], at, row.send)


def shows_a_page(client: Client, address: str, fields: Any) -> bool:
    """A whole one, no part of one and no file."""
    response = client.get(address, fields)
    return not response.streaming and response.content.lstrip().startswith(b"<!doctype html>")


def refused_without_token(client: Client, address: str, fields: Any) -> bool:
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = client.cookies
    response = strict.post(address, fields)
    return response.status_code == 403 and "open too long" in response.content.decode()


def heard(path: str, client: Client) -> bool:
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in client.cookies.items())
    headers = [(b"origin", b"http://localhost"), (b"host", b"localhost"), (b"cookie", cookies.encode())]

    async def listen() -> bool:
        socket = WebsocketCommunicator(application, path, headers=headers)
        accepted, _ = await socket.connect(timeout=10)
        await socket.disconnect()
        return bool(accepted)

    return async_to_sync(listen)()


@pytest.mark.parametrize("path", SOCKETS)
def test_it_lets_each_person_hear_what_the_table_says(
    path: str, owner: User, people: dict[str, User], machine_of: MachineOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Django's own client does the same: the connection is in the test's transaction.
    monkeypatch.setattr("channels.db.close_old_connections", lambda: None)
    run = run_in(owner, State.RUNNING, steps=1)
    known = {"machine_id": machine_of(owner).pk, "trace_id": run.trace_id, "run_id": run.pk}
    at = "/" + re.sub(r"<str:(\w+)>", lambda name: known[name[1]], path or "ws/elsewhere/")
    found = [who for who in PEOPLE if heard(at, client_of(people.get(who)))]
    assert found == [who for who, word in zip(PEOPLE, SOCKETS[path].split(), strict=True) if word == "200"]


@pytest.mark.parametrize("role", TICKETS)
def test_it_opens_the_gate_to_whom_the_table_says(
    role: str, owner: User, people: dict[str, User], machine_of: MachineOf
) -> None:
    machine = machine_of(owner)
    Machine.objects.filter(pk=machine.pk).update(handle={"id": machine.pk, "address": "192.0.2.1", "token": ""})
    found = []
    for who in PEOPLE:
        person = people.get(who)
        cookies = {name: morsel.value for name, morsel in client_of(person).cookies.items()}
        ticket = Ticket(machine.pk, str(person.pk if person else owner.pk), "drive" if role == "drive" else "view")
        found += [who] if gate._target(ticket, cookies) else []
    assert found == [who for who, word in zip(PEOPLE, TICKETS[role].split(), strict=True) if word == "200"]


def test_it_opens_the_gate_to_nobody_with_the_ticket_of_another(people: dict[str, User], machine_of: MachineOf) -> None:
    machine = machine_of(people["owner"])
    cookies = {settings.SESSION_COOKIE_NAME: client_of(people["admin"]).cookies[settings.SESSION_COOKIE_NAME].value}
    assert gate._target(Ticket(machine.pk, str(people["owner"].pk), "view"), cookies) is None


def test_it_closes_the_gate_behind_a_right_that_ended(people: dict[str, User], machine_of: MachineOf) -> None:
    machine = machine_of(people["owner"])
    client = client_of(people["operator"])
    cookies = {name: morsel.value for name, morsel in client.cookies.items()}
    ticket = Ticket(machine.pk, str(people["operator"].pk), "drive")
    assert gate._bearer(ticket, cookies)
    Membership.objects.filter(person=people["operator"]).update(role="viewer")
    assert gate._bearer(ticket, cookies) is None
    assert gate._bearer(Ticket(machine.pk, ticket.user_id, "view"), cookies)
    client.logout()
    assert gate._bearer(Ticket(machine.pk, ticket.user_id, "view"), cookies) is None


def what_is_there() -> tuple[object, ...]:
    counted = (Snapshot, LoginLink, Task, Run, Trace, Remark, Share, Job, User, Team, Membership)
    shares = Share.objects.values_list("views", "issued_at", "revoked_at", "copy")
    states = Machine.objects.values_list("state", flat=True)
    return list(states), list(shares), [model.objects.count() for model in counted]


@pytest.mark.parametrize("action", ["fork", "back", "delete"])
def test_it_has_no_snapshots_of_others_for_a_machine_of_ones_own(
    owner: User, stranger: User, machine_of: MachineOf, snapshot_of: SnapshotOf, action: str
) -> None:
    foreign, mine = snapshot_of(machine_of(owner)), machine_of(stranger)
    before = what_is_there()
    assert client_of(stranger).post(f"/machines/{mine.pk}/snapshots/{foreign.pk}/{action}/").status_code == 404
    assert what_is_there() == before


def test_it_lets_no_viewer_delete_a_snapshot_by_way_of_a_machine_of_their_own(
    people: dict[str, User], machine_of: MachineOf, snapshot_of: SnapshotOf
) -> None:
    seen, mine = snapshot_of(machine_of(people["owner"])), machine_of(people["viewer"])
    client = client_of(people["viewer"])
    assert client.post(f"/machines/{mine.pk}/snapshots/{seen.pk}/delete/").status_code == 404
    assert client.post(f"/machines/{mine.pk}/snapshots/{seen.pk}/fork/").status_code == 302
    assert Snapshot.objects.filter(pk=seen.pk).exists()


def test_it_hides_the_machines_of_others(owner: User, stranger: User, machine_of: MachineOf) -> None:
    machine_of(owner, name="secret-crane")
    for page in ("/", "/machines/"):
        assert "secret-crane" not in client_of(stranger).get(page).content.decode()


def test_it_has_nothing_of_others_for_a_trace_of_ones_own(owner: User, stranger: User) -> None:
    theirs, mine = about_a_trace(owner), example_trace(stranger).pk
    foreign_trace = Trace.objects.get(pk=theirs["trace_id"])
    foreign = DatabaseRecorder(foreign_trace, "b2", lambda: None, head_of(foreign_trace.pk, "main"))
    only_there = foreign.picture(b"not seen by anybody else", "image/webp", 1, 1)
    foreign.event(Kind.OBSERVATION, Actor.SYSTEM, {}, pictures=[only_there])
    client = client_of(stranger)
    before = what_is_there()
    for path in (f"pictures/{only_there}", f"thumbs/{only_there}.webp", "steps/999/", "files/999/"):
        assert client.get(f"/traces/{mine}/{path}").status_code == 404, path
    assert client.post(f"/traces/{mine}/remarks/{theirs['number']}/delete/").status_code == 404
    assert what_is_there() == before
