"""Those who watch at once are answered at once, each by their own right."""

import asyncio
from collections.abc import Mapping

import pytest
from asgiref.sync import async_to_sync
from django.contrib.sessions.backends.base import SessionBase
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from agents.models import Run, State
from godhand_web import trust
from godhand_web.models import User

from .task_rows import run_in

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url", "image")]


@pytest.fixture
def run(owner: User) -> Run:
    return run_in(owner, State.RUNNING, steps=1)


def login(person: User) -> SessionBase:
    client = Client()
    client.force_login(person)
    return client.session


def test_it_answers_a_crowd_by_one_look(run: Run, owner: User, stranger: User, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    answers = trust.answers

    def look(asked: Mapping[trust.Question, SessionBase]) -> dict[trust.Question, bool]:
        looks.append(len(asked))
        return answers(asked)

    monkeypatch.setattr(trust, "answers", look)
    one, other = login(owner), login(stranger)

    async def crowd() -> list[bool]:
        here = trust.Trust()
        return await asyncio.gather(*(here.ask(session, run.pk) for session in (one, other) for _ in range(20)))

    assert async_to_sync(crowd)() == [True] * 20 + [False] * 20
    assert looks == [2]


def test_it_asks_for_all_runs_of_a_login_together(
    run: Run, owner: User, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    session = login(owner)
    asked = {(session.session_key or "", pk): session for pk in (run.pk, run_in(owner, State.RUNNING).pk, "gone")}
    with django_assert_max_num_queries(4):
        assert list(trust.answers(asked).values()) == [True, True, False]


def test_it_trusts_no_login_that_ended(run: Run, owner: User) -> None:
    session = login(owner)
    asked = {(session.session_key or "", run.pk): session}
    session.delete()
    assert trust.answers(asked) == dict.fromkeys(asked, False)


def test_it_trusts_no_login_of_an_older_password(run: Run, owner: User) -> None:
    session = login(owner)
    owner.set_password("another one")
    owner.save()
    asked = {(session.session_key or "", run.pk): session}
    assert trust.answers(asked) == dict.fromkeys(asked, False)
