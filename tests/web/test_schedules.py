"""The pages of schedules: what they show, and what they do."""

import pytest
from django.test import Client
from django.utils import timezone

from agents import schedules
from agents.models import Run, Task
from agents.standing import Schedule
from godhand_web.models import User

from .task_rows import schedule_of

pytestmark = pytest.mark.usefixtures("redis_url", "image")


def text(client: Client, path: str) -> str:
    return client.get(path).content.decode()


def test_it_teaches_where_there_is_nothing(as_owner: Client) -> None:
    assert "every weekday at 9:00" in text(as_owner, "/schedules/")


def test_it_lists_what_recurs_with_the_last_verdicts(as_owner: Client, owner: User, stranger: User) -> None:
    schedule = schedule_of(owner)
    page = text(as_owner, "/schedules/")
    assert "Every weekday at 09:00 · Europe/Berlin" in page
    assert f'href="/tasks/{schedule.task_id}/runs/' in page
    assert "Could not start 4 times: The snapshot is gone." in page
    other = Client()
    other.force_login(stranger)
    assert "Morning report" not in text(other, "/schedules/")


def test_it_shows_the_next_five_and_what_became_of_the_last(as_owner: Client, owner: User) -> None:
    schedule = schedule_of(owner)
    response = as_owner.get(f"/schedules/{schedule.pk}/")
    said, coming = response.context["coming"]
    assert (said, len(coming)) == ("Every weekday at 09:00", 5)
    assert "Next 5 runs (Europe/Berlin)" in response.content.decode()
    assert all("09:00" in moment.local for moment in coming)
    page = response.content.decode()
    for words in ("Missed", "Skipped", "Could not start", "The installation was down.", "Succeeded"):
        assert words in page


def test_it_changes_when_and_says_what_it_does_not_understand(as_owner: Client, owner: User) -> None:
    schedule = schedule_of(owner)
    given = {"name": "Evenings", "when": "every day at 18:00", "zone": "Asia/Kolkata", "runs": "3", "catch_up": "1"}
    assert as_owner.post(f"/schedules/{schedule.pk}/", given).status_code == 302
    schedule.refresh_from_db()
    facts = (schedule.name, schedule.rule, schedule.zone, schedule.runs, schedule.catch_up)
    assert facts == ("Evenings", "0 18 * * *", "Asia/Kolkata", 3, True)
    for changes, words in (
        ({"when": "sometimes"}, "“sometimes” is not understood"),
        ({"zone": "Nowhere"}, "no time zone"),
        ({"runs": "99"}, "less than or equal to 16"),
        ({"name": " "}, "Give it a name"),
    ):
        response = as_owner.post(f"/schedules/{schedule.pk}/", {**given, **changes})
        assert response.status_code == 400
        assert words in response.content.decode()
    schedule.refresh_from_db()
    assert schedule.name == "Evenings"


def test_it_pauses_resumes_runs_and_deletes(as_owner: Client, owner: User) -> None:
    schedule = schedule_of(owner)
    at = f"/schedules/{schedule.pk}/"
    page = as_owner.post(f"{at}pause/", follow=True).content.decode()
    assert "Nothing runs until it is resumed" in page
    as_owner.post(f"{at}resume/")
    schedule.refresh_from_db()
    assert schedule.next_at is not None
    assert schedule.next_at > timezone.now()
    assert "Started." in as_owner.post(f"{at}run/", follow=True).content.decode()
    assert "was still going" in as_owner.post(f"{at}run/", follow=True).content.decode()
    assert "is deleted" in as_owner.post(f"{at}delete/", follow=True).content.decode()
    assert not Schedule.objects.exists()
    assert Run.objects.filter(task=schedule.task_id).count() == 2


def test_it_takes_a_task_without_runs_along(as_owner: Client, owner: User) -> None:
    schedule = schedule_of(owner)
    fresh = Task.objects.create(owner=owner, goal="Never run", image="desktop", provider="scripted")
    schedules.change_task(schedule, fresh)
    as_owner.post(f"/schedules/{schedule.pk}/delete/")
    assert not Task.objects.filter(pk=fresh.pk).exists()


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ("the last Friday of the month at 16:00", "On the last Friday of the month at 16:00"),
        ("<img src=x>", "&lt;img” is not understood"),
        ("", "preview"),
    ],
)
def test_it_says_back_what_is_being_typed(as_owner: Client, when: str, words: str) -> None:
    page = as_owner.get("/schedules/preview/", {"when": when, "zone": "UTC"}).content.decode()
    assert words in page
    assert page.count("<li>") == (5 if "Friday" in when else 0)
