from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from agents.models import Branch, Run, State, Task
from godhand_web.models import User
from traces.models import Trace

from .example import example_trace, single_branch

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_url")]


@pytest.fixture(autouse=True)
def _home(settings: LazySettings, tmp_path: Path) -> None:
    settings.HOST = SimpleNamespace(home=tmp_path)


def test_it_shows_the_room_that_each_trace_takes(as_owner: Client, owner: User, stranger: User) -> None:
    example_trace(owner, "A large one")
    single_branch(owner, "A small one")
    example_trace(stranger, "Somebody else's")
    page = as_owner.get("/settings/space/").content.decode()
    assert page.index("A large one") < page.index("A small one")
    assert "Somebody else" not in page


def test_it_shows_what_will_go_before_it_goes(as_owner: Client, owner: User, settings: LazySettings) -> None:
    settings.TRACE_DAYS, settings.PICTURE_DAYS = 30, 0
    trace = example_trace(owner, "An old one")
    assert "Deleted with the next sweep" not in as_owner.get("/settings/space/").content.decode()
    Trace.objects.update(ended_at=timezone.now() - timedelta(days=31))
    assert "Deleted with the next sweep" in as_owner.get("/settings/space/").content.decode()
    as_owner.post(f"/traces/{trace.pk}/keep/", {"keep": "yes"})
    page = as_owner.get("/settings/space/").content.decode()
    assert "Deleted with the next sweep" not in page
    assert "Kept" in page
    as_owner.post(f"/traces/{trace.pk}/keep/", {"keep": "no"})
    trace.refresh_from_db()
    assert not trace.kept


def test_it_asks_before_it_deletes_and_says_what_that_gives_back(as_owner: Client, owner: User) -> None:
    trace = example_trace(owner, "A large one")
    asked = as_owner.get(f"/traces/{trace.pk}/delete/").content.decode()
    assert "bytes" in asked or "KB" in asked
    assert Trace.objects.filter(pk=trace.pk).exists()
    answer = as_owner.post(f"/traces/{trace.pk}/delete/", follow=True).content.decode()
    assert "is deleted; that gives back" in answer
    assert not Trace.objects.exists()


def test_it_deletes_nothing_while_its_run_goes_on(as_owner: Client, owner: User) -> None:
    trace = example_trace(owner, "A live one")
    task = Task.objects.create(owner=owner, goal="Go.", image="desktop", provider="scripted")
    run = Run.objects.create(task=task, trace=trace, state=State.RUNNING)
    Branch.objects.create(run=run, state=State.RUNNING)
    assert "still goes on" in as_owner.get(f"/traces/{trace.pk}/delete/").content.decode()
    answer = as_owner.post(f"/traces/{trace.pk}/delete/", follow=True).content.decode()
    assert "cancel it first" in answer
    assert Trace.objects.exists()
