"""What the addresses name: things of the owner's, and the people who ask for them."""

from collections.abc import Mapping
from typing import Any

from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.test import Client
from django.urls import reverse

from agents.models import State
from godhand_web.models import LoginLink, Membership, Role, Team, User
from godhand_web.urls import urlpatterns

from .task_rows import pictures, run_in, schedule_of
from .trace_addresses import about_a_job, about_a_share, about_a_trace

TEAM = {"owner": Role.VIEWER, "viewer": Role.VIEWER, "onlooker": Role.OPERATOR, "operator": Role.OPERATOR}


def everybody() -> dict[str, User]:
    """The owner is in a team with a viewer and two operators, one of whom only looks; the stranger is in none."""
    people = {name: User.objects.create_user(name) for name in ("stranger", "viewer", "operator")}
    people["owner"] = User.objects.filter(username="owner").first() or User.objects.create_user("owner")
    people["onlooker"] = User.objects.create_user("onlooker", only_looks=True)
    people["admin"] = User.objects.create_user("admin", is_staff=True)
    team = Team.objects.create(name="Research")
    for name, role in TEAM.items():
        Membership.objects.create(team=team, person=people[name], role=role, agreed=True)
    return people


def client_of(person: User | None) -> Client:
    client = Client()
    if person is not None:
        client.force_login(person)
    return client


def address_of(name: str, known: Mapping[str, Any], owner: User) -> str:
    pattern = next(each for each in urlpatterns if each.name == name).pattern
    facts = {**known, **about(name, set(pattern.converters), owner)}
    return reverse(name, kwargs={key: facts[key] for key in pattern.converters})


def about(name: str, wanted: set[str], owner: User) -> Mapping[str, object]:
    if "schedule_id" in wanted:
        return {"schedule_id": schedule_of(owner).pk}
    if "task_id" in wanted:
        return about_a_task(owner)
    if "job_id" in wanted:
        return about_a_job(owner, name)
    if "trace_id" in wanted:
        return about_a_trace(owner)
    if wanted & {"share_id", "share_token"}:
        return about_a_share(owner, name)
    return about_an_account(owner) if wanted & {"person_id", "team_id", "session_id", "pk", "token"} else {}


def about_a_task(owner: User) -> dict[str, str]:
    """Of the owner's, with a picture among its files."""
    run = run_in(owner, State.RUNNING, steps=1, attachments={"a.webp": pictures()[0][1]})
    return {"task_id": run.task_id, "run_id": run.pk, "sha256": run.task.attachments.get().sha256}


def about_an_account(owner: User) -> dict[str, object]:
    """The owner's own, with a login elsewhere and a passkey."""
    membership = Membership.objects.filter(person=owner).first()
    elsewhere = UserSession.objects.create(user=owner, ip="192.0.2.7", session_key="elsewhere", user_agent="Firefox/1")
    key = Authenticator.objects.create(user=owner, type="webauthn", data={"name": "Passkey", "credential": {}})
    return {
        "person_id": owner.pk,
        "team_id": membership.team_id if membership else 0,
        "session_id": elsewhere.pk,
        "pk": key.pk,
        "token": LoginLink.issue(owner),
    }
