"""People and teams: who comes in, who sees what of whom, and who may change that."""

import pytest
from django.conf import LazySettings
from django.core.cache import cache
from django.test import Client

from godhand_web import access
from godhand_web.models import LoginLink, Membership, Role, Team, User
from sandboxes.models import State
from traces.models import Remark

from .access_addresses import client_of, everybody
from .conftest import MachineOf
from .trace_addresses import about_a_share, about_a_trace

pytestmark = pytest.mark.usefixtures("redis_url", "image")


@pytest.fixture
def people(owner: User) -> dict[str, User]:
    cache.clear()
    return everybody()


@pytest.fixture
def team(people: dict[str, User]) -> Team:
    return Team.objects.get()


def test_it_gives_control_by_force_to_owner_and_admins_alone(people: dict[str, User], machine_of: MachineOf) -> None:
    machine = machine_of(people["owner"])
    assert [who for who, person in people.items() if access.may_force(person, machine)] == ["owner", "admin"]
    Membership.objects.filter(person=people["operator"]).update(role=Role.ADMIN)
    assert access.may_force(people["operator"], machine)


def test_it_lets_a_person_who_only_looks_change_nothing_anywhere(
    people: dict[str, User], machine_of: MachineOf
) -> None:
    looker = people["operator"]
    machine = machine_of(people["owner"])
    assert access.role_on(looker, machine) == "drive"
    looker.role = Role.VIEWER
    looker.save()
    assert access.role_on(looker, machine) == "view"
    own = machine_of(looker)
    client = client_of(looker)
    assert client.post(f"/machines/{own.pk}/stop/").status_code == 404
    assert client.get("/machines/new/").status_code == 403
    assert client.post("/tasks/demo/").status_code == 403


def test_it_lets_a_person_who_only_looks_make_nothing_of_what_they_began(people: dict[str, User]) -> None:
    looker = people["operator"]
    trace, share = about_a_trace(looker), about_a_share(looker, "issue_share")
    at = f"/traces/{trace['trace_id']}"
    User.objects.filter(pk=looker.pk).update(only_looks=True)
    client = client_of(looker)
    for path in (f"{at}/steps/1/remarks/", f"{at}/remarks/{trace['number']}/delete/"):
        assert client.post(path, {"text": "Well done."}).status_code == 403, path
    assert client.post(f"/shares/{share['share_id']}/issue/", {"lifetime": "7d"}).status_code == 403
    assert client.post("/settings/models/anthropic/test/").status_code == 403
    assert Remark.objects.count() == 1
    assert "data-remark" not in client.get(f"{at}/?step=1&tab=notes").content.decode()
    assert "/traces/import/" not in client.get("/traces/").content.decode()


def test_it_shows_nothing_to_a_team_that_somebody_has_not_agreed_to_join(
    people: dict[str, User], team: Team, machine_of: MachineOf
) -> None:
    machine = machine_of(people["stranger"])
    Membership.objects.filter(person=people["viewer"]).update(role=Role.ADMIN)
    asking = client_of(people["viewer"])
    asking.post(f"/settings/teams/{team.pk}/members/", {"person": "Stranger", "role": "operator"})
    assert access.role_on(people["operator"], machine) is None
    assert client_of(people["stranger"]).get(f"/settings/teams/{team.pk}/").status_code == 404
    asked = client_of(people["stranger"])
    assert "Research asks you to join" in asked.get("/settings/teams/").content.decode()
    asked.post(f"/settings/teams/{team.pk}/join/")
    assert access.role_on(people["operator"], machine) == "drive"
    asked.post(f"/settings/teams/{team.pk}/leave/")
    assert access.role_on(people["operator"], machine) is None


def test_it_lets_a_team_admin_manage_that_team_and_no_other(people: dict[str, User], team: Team) -> None:
    Membership.objects.filter(person=people["viewer"]).update(role=Role.ADMIN)
    client = client_of(people["viewer"])
    other = Team.objects.create(name="Sales")
    member = f"members/{people['operator'].pk}/"
    assert client.post(f"/settings/teams/{team.pk}/{member}", {"role": "viewer"}).status_code == 302
    assert Membership.objects.get(person=people["operator"]).role == Role.VIEWER
    assert client.post(f"/settings/teams/{team.pk}/{member}", {"remove": "yes"}).status_code == 302
    assert not Membership.objects.filter(person=people["operator"]).exists()
    assert client.post(f"/settings/teams/{other.pk}/members/", {"person": "owner"}).status_code == 404
    assert client.post(f"/settings/teams/{team.pk}/delete/").status_code == 404
    assert client.get("/settings/people/").status_code == 404


def test_it_shows_the_work_of_all_teams_that_one_is_in(people: dict[str, User], machine_of: MachineOf) -> None:
    sales = Team.objects.create(name="Sales")
    for who in ("viewer", "stranger"):
        Membership.objects.create(team=sales, person=people[who], role=Role.OPERATOR, agreed=True)
    first, second = machine_of(people["owner"]), machine_of(people["stranger"])
    assert set(access.visible_machines(people["viewer"])) == {first, second}
    assert access.role_on(people["viewer"], first) == "view"
    assert access.role_on(people["viewer"], second) == "drive"
    mates = ("owner", "onlooker", "operator", "stranger")
    assert access.teammates(people["viewer"]) == sorted(people[who].pk for who in mates)


def test_it_invites_to_the_address_that_people_type(staff: User, settings: LazySettings) -> None:
    settings.URL_IS_GIVEN, settings.PUBLIC_URL = True, "https://desk.example.org"
    page = client_of(staff).post("/settings/people/", {"name": "zoe", "role": "viewer"}).content.decode()
    assert 'value="https://desk.example.org/login/' in page


def test_it_invites_by_a_link_that_leads_to_ones_own_keys(staff: User) -> None:
    page = client_of(staff).post("/settings/people/", {"name": "zoe", "role": "viewer"}).content.decode()
    link = page.partition('value="http://testserver')[2].partition('"')[0]
    guest = Client()
    assert guest.post(link).headers["Location"] == "/settings/security/"
    assert guest.get("/settings/security/").status_code == 200
    assert Client().post(link).status_code == 410
    zoe = User.objects.get(username="zoe")
    assert (zoe.role, zoe.has_usable_password()) == (Role.VIEWER, False)
    chosen = {"password1": "correct horse battery", "password2": "correct horse battery"}
    assert guest.post("/settings/security/password/new/", chosen).status_code == 302
    assert guest.get("/settings/security/").status_code == 200, "setting a password does not log one out"
    again = Client()
    assert again.post("/login/", {"username": "zoe", "password": "correct horse battery"}).headers["Location"] == "/"


def test_it_invites_nobody_twice(staff: User, owner: User) -> None:
    answer = client_of(staff).post("/settings/people/", {"name": "Owner", "role": "operator"})
    assert answer.status_code == 400
    assert "There is somebody called Owner already." in answer.content.decode()


def test_it_puts_somebody_out_everywhere_at_once(staff: User, owner: User, machine_of: MachineOf) -> None:
    machine = machine_of(owner)
    inside, link = client_of(owner), LoginLink.issue(owner)
    assert inside.get("/").status_code == 200
    client_of(staff).post(f"/settings/people/{owner.pk}/active/", {"active": "no"})
    assert inside.get("/").status_code == 302
    assert Client().post(f"/login/link/{link}/").status_code == 410
    machine.refresh_from_db()
    assert machine.state == State.READY
    client_of(staff).post(f"/settings/people/{owner.pk}/active/", {"active": "yes"})
    owner.refresh_from_db()
    assert owner.is_active


def test_it_leaves_an_administrator_in_charge(staff: User) -> None:
    client = client_of(staff)
    client.post(f"/settings/people/{staff.pk}/", {"role": "viewer"})
    client.post(f"/settings/people/{staff.pk}/active/", {"active": "no"})
    staff.refresh_from_db()
    assert (staff.is_active, staff.role) == (True, Role.ADMIN)


def test_it_changes_role_and_limits(staff: User, owner: User) -> None:
    said = {"role": "admin", "machines": "3", "tasks": "", "disk": "1.5"}
    client_of(staff).post(f"/settings/people/{owner.pk}/", said)
    owner.refresh_from_db()
    assert (owner.role, owner.most_machines, owner.most_tasks, owner.most_disk) == (Role.ADMIN, 3, None, 1_500_000_000)
    wrong = client_of(staff).post(f"/settings/people/{owner.pk}/", {**said, "machines": "many"})
    assert wrong.status_code == 400
    assert 'value="many"' in wrong.content.decode()
