"""Every address for everybody. A new address without a row here fails."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse

from godhand_web.models import LoginLink, User
from godhand_web.urls import urlpatterns
from sandboxes.models import Machine, Screenshot, Snapshot

from .conftest import MachineOf, SnapshotOf

pytestmark = pytest.mark.usefixtures("redis_url", "image")

LOGIN, MISSING, FINE, SEE_OTHER = "login", 404, 200, 302

# What to send, and the answer to: anonymous, stranger, owner, staff.
MATRIX = {
    "dashboard": ("get", {}, LOGIN, FINE, FINE, FINE),
    "machines": ("get", {}, LOGIN, FINE, FINE, FINE),
    "new_machine": ("get", {}, LOGIN, FINE, FINE, FINE),
    "machine": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "destroy_machine": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "ticket": ("post", {"role": "drive"}, LOGIN, MISSING, FINE, FINE),
    "stop_machine": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "resume_machine": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "take_snapshot": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "fork_snapshot": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "go_back": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "delete_snapshot": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "take_screenshot": ("post", {}, LOGIN, MISSING, SEE_OTHER, SEE_OTHER),
    "screenshot": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "picture": ("get", {}, LOGIN, MISSING, FINE, FINE),
    "images": ("get", {}, LOGIN, FINE, FINE, FINE),
    "settings": ("get", {}, LOGIN, FINE, FINE, FINE),
    "theme": ("post", {"theme": "dark"}, SEE_OTHER, SEE_OTHER, SEE_OTHER, SEE_OTHER),
    "login": ("get", {}, FINE, SEE_OTHER, SEE_OTHER, SEE_OTHER),
    "login_link": ("get", {}, FINE, FINE, FINE, FINE),
    "logout": ("post", {}, LOGIN, SEE_OTHER, SEE_OTHER, SEE_OTHER),
    "healthz": ("get", {}, FINE, FINE, FINE, FINE),
    "readyz": ("get", {}, FINE, FINE, FINE, FINE),
}
POSTS = [name for name, (method, *_) in MATRIX.items() if method == "post"]
POSTS += ["new_machine", "settings", "login", "login_link"]


@pytest.fixture
def address(
    owner: User,
    machine_of: MachineOf,
    screenshot_of: Callable[[Machine], Screenshot],
    snapshot_of: SnapshotOf,
) -> Callable[[str], str]:
    """The address of a page about a machine of the owner's."""
    shot = screenshot_of(machine_of(owner))
    known = {
        "machine_id": shot.machine_id,
        "snapshot_id": snapshot_of(shot.machine).pk,
        "number": shot.pk,
        "sha256": shot.sha256,
        "token": LoginLink.issue(owner),
    }

    def find(name: str) -> str:
        pattern = next(each for each in urlpatterns if each.name == name).pattern
        return reverse(name, kwargs={key: known[key] for key in pattern.converters})

    return find


def test_it_has_a_row_for_every_address() -> None:
    assert {pattern.name for pattern in urlpatterns} == set(MATRIX)


@pytest.mark.parametrize("name", MATRIX)
def test_it_sends_nobody_in_without_a_login(name: str, address: Callable[[str], str]) -> None:
    method, fields, expected, *_ = MATRIX[name]
    response = getattr(Client(), method)(address(name), fields)
    if expected == LOGIN:
        assert response.status_code == 302
        assert response.headers["Location"].startswith("/login/?next=")
    else:
        assert response.status_code == expected


@pytest.mark.parametrize(("who", "column"), [("stranger", 3), ("owner", 4), ("staff", 5)])
@pytest.mark.parametrize("name", MATRIX)
def test_it_shows_each_person_what_is_theirs(
    name: str, who: str, column: int, address: Callable[[str], str], request: pytest.FixtureRequest
) -> None:
    row = MATRIX[name]
    client = Client()
    client.force_login(request.getfixturevalue(who))
    response = getattr(client, str(row[0]))(address(name), row[1])
    assert response.status_code == row[column], response.content


@pytest.mark.parametrize("name", POSTS)
def test_it_refuses_every_form_without_its_token(name: str, address: Callable[[str], str], owner: User) -> None:
    client = Client(enforce_csrf_checks=True)
    if name != "login":
        client.force_login(owner)
    response = client.post(address(name), MATRIX[name][1])
    assert response.status_code == 403
    assert "open too long" in response.content.decode()


@pytest.mark.parametrize("name", [name for name in POSTS if name not in {"login", "new_machine", "settings"}])
def test_it_changes_nothing_by_looking(name: str, address: Callable[[str], str], as_owner: Client) -> None:
    at = address(name)
    before = what_is_there()
    assert as_owner.get(at).status_code in {200, 405}
    assert what_is_there() == before
    assert as_owner.get("/").status_code == 200


def what_is_there() -> tuple[list[str], int, int]:
    return list(Machine.objects.values_list("state", flat=True)), Snapshot.objects.count(), LoginLink.objects.count()


@pytest.mark.parametrize("action", ["fork", "back", "delete"])
def test_it_has_no_snapshots_of_others_for_a_machine_of_ones_own(
    owner: User, stranger: User, machine_of: MachineOf, snapshot_of: SnapshotOf, action: str
) -> None:
    foreign, mine = snapshot_of(machine_of(owner)), machine_of(stranger)
    client = Client()
    client.force_login(stranger)
    before = what_is_there()
    assert client.post(f"/machines/{mine.pk}/snapshots/{foreign.pk}/{action}/").status_code == 404
    assert what_is_there() == before


def test_it_hides_the_machines_of_others(owner: User, stranger: User, machine_of: MachineOf) -> None:
    machine_of(owner, name="secret-crane")
    client = Client()
    client.force_login(stranger)
    for page in ("/", "/machines/"):
        assert "secret-crane" not in client.get(page).content.decode()
