"""The form of a new task: secrets, a step to start from, checks in words, a schedule."""

import re
from typing import Any

import pytest
from django.test import Client

from agents import vault
from agents.models import State, Task
from agents.plan import Plan
from agents.standing import Schedule
from godhand_web.models import User
from traces.models import Event
from traces.outline import read

from .conftest import MachineOf, SnapshotOf
from .task_rows import recorder_of, run_in, schedule_of
from .test_new_task import csv, errors, send

pytestmark = pytest.mark.usefixtures("redis_url", "image")


def secret_word(page: str) -> str:
    word = re.search(r'name="secret-kept" value="([^"]+)"', page)
    assert word, page
    return word[1]


def test_it_seals_secrets_and_never_shows_them_again(as_owner: Client, stranger: User) -> None:
    typed = {"secret-name": ["password", ""], "secret-value": ["correct horse", ""]}
    page = send(as_owner, goal="", **typed).content.decode()
    word = secret_word(page)
    assert "{{password}}" in page
    assert "correct horse" not in page
    assert send(as_owner, **{"secret-kept": word, "secret-name": "pin", "secret-value": "123456"}).status_code == 302
    task = Task.objects.get()
    assert vault.secrets_of(task).values == {"password": "correct horse", "pin": "123456"}
    assert "correct horse" not in task.secrets
    other = Client()
    other.force_login(stranger)
    assert send(other, **{"secret-kept": word}).status_code == 302
    assert not Task.objects.get(owner=stranger).secrets


@pytest.mark.parametrize(("name", "value"), [("", "correct horse"), ("two words", "correct horse"), ("pin", "123")])
def test_it_says_what_is_wrong_with_a_secret_without_repeating_it(as_owner: Client, name: str, value: str) -> None:
    response = send(as_owner, **{"secret-name": name, "secret-value": value})
    assert list(errors(response)) == ["secrets"]
    assert f'value="{value}"' not in response.content.decode()


def test_it_starts_from_a_step_of_a_trace(
    as_owner: Client, owner: User, machine_of: MachineOf, snapshot_of: SnapshotOf
) -> None:
    run = run_in(owner, State.SUCCEEDED, steps=3)
    saved = snapshot_of(run.branches.get().machine, "table open")
    recorder_of(run.branches.get()).snapshot(snapshot=saved.pk, backend="gvisor", keeps="disk+memory", size=1, ms=1)
    last = Event.objects.filter(trace=run.trace).latest("seq").seq
    link = f"http://testserver/traces/{run.trace_id}/?branch=main&step={last}"
    number = len(read(run.trace_id).path("main"))
    assert number < last
    assert f"Step {number} of" in as_owner.get("/tasks/new/").content.decode()
    assert send(as_owner, start="step", step_link=link).status_code == 302
    task = Task.objects.exclude(pk=run.task_id).get()
    assert task.snapshot == saved.pk
    prefilled = as_owner.get(f"/tasks/new/?trace={run.trace_id}&step={last}").context["form"]
    assert (prefilled["start"].value(), prefilled["step_link"].value()) == ("step", f"{run.trace_id} {last}")


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("", "Paste the link"),
        ("/traces/{trace}/", "Paste the link"),
        ("{trace} 99999", "has no such step"),
        ("abcdef 1", "no such trace"),
        ("{trace} 1", "No machine was saved"),
    ],
)
def test_it_says_why_it_cannot_start_from_a_step(as_owner: Client, owner: User, link: str, words: str) -> None:
    run = run_in(owner, State.SUCCEEDED, steps=1)
    found = errors(send(as_owner, start="step", step_link=link.format(trace=run.trace_id)))
    assert words in found["step_link"][0]


def test_it_has_no_step_of_somebody_else_to_start_from(as_owner: Client, stranger: User) -> None:
    run = run_in(stranger, State.SUCCEEDED, steps=1)
    assert "no such trace" in errors(send(as_owner, start="step", step_link=f"{run.trace_id} 1"))["step_link"][0]


def test_it_says_what_checks_ask_for(as_owner: Client) -> None:
    page = send(
        as_owner, goal="", checks='[[check]]\nkind = "file_exists"\npath = "a.txt"\nmin_size = 7'
    ).content.decode()
    assert "There is a file a.txt of at least 7 bytes." in page
    explained = page.partition('class="explained"')[2].partition("</ol>")[0]
    assert "when the agent says it is done" in explained
    assert "#list-checks" in explained


def test_it_saves_a_schedule_with_all_that_the_task_has(as_owner: Client) -> None:
    later = {
        "timing": "schedule",
        "when": "every weekday at 9:00",
        "zone": "Europe/Berlin",
        "catch_up": "1",
        "runs": "2",
    }
    response = send(as_owner, files=[csv()], **later, **{"secret-name": "pin", "secret-value": "123456"})
    schedule = Schedule.objects.get()
    assert response.headers["Location"] == f"/schedules/{schedule.pk}/"
    assert (schedule.rule, schedule.zone, schedule.runs, schedule.catch_up) == ("0 9 * * 1-5", "Europe/Berlin", 2, True)
    assert (schedule.task.runs.count(), schedule.task.attachments.get().name) == (0, "sales.csv")
    assert vault.secrets_of(schedule.task).values == {"pin": "123456"}


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"when": "now and then"}, "when", "is not understood"),
        ({"when": ""}, "when", "Say when"),
        ({"when": "1 January 2020 at 8:00"}, "when", "comes any more"),
        ({"zone": "Middle/Earth"}, "zone", "no time zone"),
    ],
)
def test_it_says_what_is_wrong_with_a_schedule(
    as_owner: Client, changes: dict[str, str], field: str, words: str
) -> None:
    response = send(as_owner, **{"timing": "schedule", "when": "hourly", "zone": "UTC", **changes})
    assert words in errors(response)[field][0]
    assert f'id="field-{field}"' in response.content.decode()
    assert not Task.objects.exists()


def test_it_forgets_what_was_typed_of_a_schedule_when_the_task_starts_now(as_owner: Client) -> None:
    assert send(as_owner, timing="now", when="now and then").status_code == 302
    assert not Schedule.objects.exists()


def schedule_with_secrets(owner: User) -> Schedule:
    """And with a limit that only a program can set."""
    schedule = schedule_of(owner)
    sealed = vault.seal({"password": "correct horse", "pin": "123456"})
    limits = {**schedule.task.limits, "tokens": 7_000}
    Task.objects.filter(pk=schedule.task_id).update(secrets=sealed, plan=Plan(every=3).to_json(), limits=limits)
    return Schedule.objects.get(pk=schedule.pk)


def as_shown(client: Client, schedule: Schedule) -> dict[str, Any]:
    form = client.get(f"/tasks/new/?like={schedule.task_id}&schedule={schedule.pk}").context["form"]
    return {name: form[name].value() for name in form.fields if form[name].value() not in (None, "", "False", False)}


def test_it_changes_the_task_of_a_schedule(as_owner: Client, owner: User) -> None:
    schedule = schedule_with_secrets(owner)
    old = schedule.task_id
    given = as_shown(as_owner, schedule)
    assert as_owner.post("/tasks/new/", {**given, "goal": "Do it better."}).status_code == 302
    schedule.refresh_from_db()
    task = schedule.task
    assert task.goal == "Do it better."
    assert (schedule.wording, schedule.task_id == old) == ("every weekday at 9:00", False)
    assert vault.secrets_of(task).values == {"password": "correct horse", "pin": "123456"}
    assert (task.plan["every"], task.limits["tokens"]) == (3, 7_000)


def test_it_drops_and_replaces_secrets_of_a_schedule_by_name(as_owner: Client, owner: User) -> None:
    schedule = schedule_with_secrets(owner)
    listed = {"secret-listed": ["password", "pin"], "secret-stays": ["pin"]}
    given = {**as_shown(as_owner, schedule), **listed, "secret-name": "pin", "secret-value": "987654"}
    page = as_owner.post("/tasks/new/", {**given, "goal": ""}).content.decode()
    assert 'name="secret-stays" value="pin" checked' in page
    assert 'name="secret-stays" value="password">' in page
    assert "correct horse" not in page
    assert as_owner.post("/tasks/new/", given).status_code == 302
    schedule.refresh_from_db()
    assert vault.secrets_of(schedule.task).values == {"pin": "987654"}


def test_it_gives_no_secrets_of_a_schedule_to_a_task_of_somebody_else(owner: User, stranger: User) -> None:
    schedule, client = schedule_with_secrets(owner), Client()
    client.force_login(stranger)
    User.objects.filter(pk=stranger.pk).update(is_staff=True)
    given = {**as_shown(client, schedule), "timing": "now"}
    assert client.post("/tasks/new/", given).status_code == 302
    assert not Task.objects.get(owner=stranger).secrets


def test_it_shows_the_calls_that_make_the_same_schedule(as_owner: Client) -> None:
    later = {"timing": "schedule", "when": "every weekday at 9:00", "zone": "Europe/Berlin", "runs": "2"}
    exec(send(as_owner, show="python", **later).context["code"], {})
    by_call = Schedule.objects.get()
    send(as_owner, **later)
    by_form = Schedule.objects.exclude(pk=by_call.pk).get()
    facts = ("owner", "name", "rule", "zone", "runs", "catch_up", "next_at")
    assert [getattr(by_call, name) for name in facts] == [getattr(by_form, name) for name in facts]
