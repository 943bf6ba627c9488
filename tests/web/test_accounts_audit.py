"""Who did what: written by itself, without secrets, and found again."""

from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from agents.models import State
from godhand_web import audit
from godhand_web.models import AuditEntry, LoginLink, User

from .access_addresses import client_of
from .conftest import MachineOf
from .task_rows import run_in

pytestmark = pytest.mark.usefixtures("redis_url", "image")


def told() -> list[tuple[str, str, str, str, str]]:
    """All but the tests' own way in, in order."""
    entries = AuditEntry.objects.exclude(what="logged in").order_by("pk")
    return [(one.name, one.what, one.kind, one.thing, one.outcome) for one in entries]


def test_it_tells_of_what_was_done_and_of_what_was_refused(owner: User, stranger: User, machine_of: MachineOf) -> None:
    machine = machine_of(owner)
    client_of(owner).post(f"/machines/{machine.pk}/stop/")
    client_of(owner).post(f"/machines/{machine.pk}/stop/")
    client_of(stranger).post(f"/machines/{machine.pk}/destroy/")
    assert told() == [
        ("owner", "stop_machine", "machine", machine.pk, "done"),
        ("owner", "stop_machine", "machine", machine.pk, "refused"),
        ("stranger", "destroy_machine", "machine", machine.pk, "refused"),
    ]
    entry = AuditEntry.objects.latest("pk")
    assert (entry.address, entry.person) == ("127.0.0.1", stranger)


def test_it_names_what_a_form_has_made(owner: User) -> None:
    answer = client_of(owner).post("/tasks/demo/")
    assert told() == [("owner", "demo_task", "task", answer.headers["Location"].split("/")[2], "done")]


def test_it_tells_nothing_of_looking_and_of_staying(owner: User, machine_of: MachineOf) -> None:
    machine, client = machine_of(owner), client_of(owner)
    client.get(f"/machines/{machine.pk}/")
    client.post(f"/machines/{machine.pk}/ticket/", {"role": "view"})
    client.post(f"/machines/{machine.pk}/lease/beat/")
    client.post("/theme/", {"theme": "dark"})
    assert told() == []


def test_it_keeps_no_secret(owner: User, staff: User) -> None:
    cache.clear()
    owner.set_password("pass-phrase-1")
    owner.save()
    token = LoginLink.issue(owner)
    run = run_in(owner, State.RUNNING, steps=1)
    client = Client()
    client.post(f"/login/link/{token}/")
    client.post(f"/tasks/{run.task_id}/runs/{run.pk}/note/", {"text": "the PIN is 4711"})
    Client().post("/login/", {"username": "pass-phrase-1", "password": "owner"})
    Client().post("/login/", {"username": "owner", "password": "pass-phrase-2"})
    client_of(staff).post("/settings/people/", {"name": "zoe", "role": "viewer"})
    everything = str([list(entry) for entry in AuditEntry.objects.values_list()])
    assert not any(secret in everything for secret in (token, "4711", "pass-phrase"))
    assert [entry.note for entry in AuditEntry.objects.filter(what="log in").order_by("pk")] == [
        "unknown name",
        "wrong password",
    ]


def test_it_tells_how_somebody_came_in_and_left(owner: User) -> None:
    client = Client()
    client.post(f"/login/link/{LoginLink.issue(owner)}/")
    client.post("/logout/")
    assert [(one.what, one.note) for one in AuditEntry.objects.order_by("pk")] == [
        ("logged in", "link"),
        ("logged out", ""),
    ]


def test_it_tells_of_a_new_password_once_and_of_one_that_was_refused(owner: User) -> None:
    client = client_of(owner)
    client.post("/settings/security/password/new/", {"password1": "horse", "password2": "horse"})
    client.post("/settings/security/password/new/", {"password1": "a better horse", "password2": "a better horse"})
    assert told() == [
        ("owner", "account_set_password", "", "", "refused"),
        ("owner", "changed the password", "", "", "done"),
    ]


def test_it_finds_by_person_outcome_and_word(staff: User, owner: User, machine_of: MachineOf) -> None:
    machine = machine_of(owner)
    client_of(owner).post(f"/machines/{machine.pk}/stop/")
    client = client_of(staff)

    def found(query: str) -> str:
        return client.get(f"/settings/audit/?{query}").content.decode()

    assert "Stop machine" in found("who=owner")
    assert "Stop machine" in found(f"q={machine.pk}")
    assert "Stop machine" in found("q=stop+machine&outcome=done&since=day")
    assert "No matching entries" in found("who=owner&outcome=failed")
    assert "No matching entries" in found("q=destroy")


def test_it_shows_a_hundred_at_a_time(staff: User) -> None:
    AuditEntry.objects.bulk_create(AuditEntry(name=f"person-{n}", what="theme", outcome="done") for n in range(150))
    client = client_of(staff)
    first, second = (client.get(f"/settings/audit/?page={page}").content.decode() for page in (1, 2))
    assert "person-149" in first
    assert "person-10<" not in first
    assert "person-10<" in second


def test_it_forgets_what_is_old(owner: User, settings: LazySettings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.AUDIT_DAYS = 30
    monkeypatch.setattr(audit, "TRIM_EVERY", 1)
    for days in (31, 29):
        AuditEntry.objects.create(what=f"{days}", outcome="done", at=timezone.now() - timedelta(days=days))
    audit.write("now", person=owner)
    assert {entry.what for entry in AuditEntry.objects.all()} == {"29", "now"}
