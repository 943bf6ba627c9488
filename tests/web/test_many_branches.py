"""A run with a hundred branches, half of them one from the other: its page answers, and asks the database no more."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from agents import api
from agents.models import Branch, Run, State
from godhand_web.models import User
from traces.payloads import EventId

from .trace_seed import Story, screen

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url", "image")]


def grown(owner: User, deep: int, wide: int) -> Run:
    run = api.submit(owner, "Fork.", provider="scripted", options={"script": "chart"}, plan={"budget": 200})
    main = run.branches.get()
    Branch.objects.filter(pk=main.pk).update(state=State.SUCCEEDED)
    head = step(Story(run.trace))
    parent, end = main, head
    for number in range(1, deep + 1):
        parent, end = forked(run, f"b{number}", parent, end)
    for number in range(deep + 1, deep + wide + 1):
        forked(run, f"b{number}", main, head)
    return run


def forked(run: Run, name: str, parent: Branch, after: EventId) -> tuple[Branch, EventId]:
    made = Branch.objects.create(run=run, name=name, parent=parent, forked_at=after, state=State.SUCCEEDED)
    return made, step(Story(run.trace, name, after))


def step(story: Story) -> EventId:
    return story.click(300, 200, screen(1, "row"))


def queries(client: Client, run: Run, rest: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        answer = client.get(f"/traces/{run.trace_id}/{rest}")
    page = answer.content.decode()
    assert answer.status_code == 200
    assert all(branch.name in page for branch in run.branches.all())
    return len(asked)


def test_it_asks_no_more_for_a_hundred_branches(as_owner: Client, owner: User) -> None:
    few, many = grown(owner, 5, 5), grown(owner, 50, 50)
    assert queries(as_owner, many, "") <= queries(as_owner, few, "") + 10


def test_it_asks_no_more_at_the_end_of_fifty_forks(as_owner: Client, owner: User) -> None:
    few, many = grown(owner, 5, 5), grown(owner, 50, 50)
    assert queries(as_owner, many, "?branch=b50") <= queries(as_owner, few, "?branch=b5") + 10
