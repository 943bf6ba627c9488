"""The list of tasks: what it shows, how it narrows, and who sees what."""

import re

import pytest
from django.test import Client

from agents.models import State, Task
from godhand_web.models import User
from traces.models import Trace

from .task_rows import run_in

pytestmark = pytest.mark.usefixtures("redis_url", "image")


def listed(client: Client, query: str = "") -> list[str]:
    return [task.goal for task, _ in client.get(f"/tasks/{query}").context["rows"]]


def test_it_offers_the_demo_where_there_is_nothing(as_owner: Client) -> None:
    page = as_owner.get("/tasks/").content.decode()
    assert "Run the demo" in page
    assert 'action="/tasks/demo/"' in page


def test_it_narrows_by_state_words_cost_and_age(as_owner: Client, owner: User) -> None:
    cheap = run_in(owner, State.SUCCEEDED, goal="Sort the mail", steps=1)
    dear = run_in(owner, State.NEEDS_HELP, goal="Read the invoices", steps=2)
    old = run_in(owner, State.FAILED, goal="Old news", steps=1)
    Trace.objects.filter(pk=dear.trace_id).update(cost=4.5)
    Task.objects.filter(pk=old.task_id).update(created_at=old.created_at.replace(year=2020))
    assert set(listed(as_owner)) == {"Sort the mail", "Read the invoices", "Old news"}
    assert listed(as_owner, "?state=needs_help") == ["Read the invoices"]
    assert listed(as_owner, "?q=MAIL") == ["Sort the mail"]
    assert listed(as_owner, "?cost=4") == ["Read the invoices"]
    assert set(listed(as_owner, "?since=7d")) == {"Sort the mail", "Read the invoices"}
    assert listed(as_owner, "?since=7d&q=news") == []
    assert set(listed(as_owner, "?state=nonsense&since=ever&cost=nan&page=x")) == set(listed(as_owner))
    assert cheap.task.goal in as_owner.get("/tasks/").content.decode()


def test_it_counts_states_of_what_is_searched(as_owner: Client, owner: User) -> None:
    for goal, state in (("one", State.SUCCEEDED), ("two", State.SUCCEEDED), ("two too", State.PAUSED)):
        run_in(owner, state, goal=goal, steps=1)
    counts = dict(as_owner.get("/tasks/?q=two&state=paused").context["states"])
    assert counts == {"succeeded": 1, "paused": 1}


def test_it_keeps_the_search_when_the_state_is_chosen(as_owner: Client, owner: User) -> None:
    run_in(owner, State.PAUSED, goal="two", steps=1)
    page = as_owner.get("/tasks/?q=two&page=3").content.decode()
    assert re.search(r'href="\?q=two&amp;state=paused"', page)


def test_it_pages_through_many(as_owner: Client, owner: User, django_assert_max_num_queries: object) -> None:
    task = run_in(owner, State.SUCCEEDED, steps=1).task
    for number in range(60):
        Task.objects.create(owner=owner, goal=f"Task {number}", image="desktop", provider="scripted")
    assert len(listed(as_owner)) == 50
    assert task.goal in listed(as_owner, "?page=2")
    with django_assert_max_num_queries(16):  # type: ignore[operator]
        as_owner.get("/tasks/")


def test_it_shows_nobody_the_tasks_of_others(owner: User, stranger: User, staff: User) -> None:
    run_in(owner, State.RUNNING, goal="My secret plan", steps=1)
    for person, sees in ((stranger, False), (staff, True)):
        client = Client()
        client.force_login(person)
        for page in ("/", "/tasks/", "/tasks/?q=secret"):
            assert ("My secret plan" in client.get(page).content.decode()) is sees, (page, person)
