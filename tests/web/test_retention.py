"""Choosing what goes by itself: whoever would take something away at once is told what, and asked."""

from datetime import timedelta

import pytest
from django.conf import LazySettings
from django.test import Client
from django.utils import timezone

from agents import removal
from godhand_web.models import User
from traces.models import Trace
from traces.retention import Policy

from .example import example_trace

pytestmark = pytest.mark.usefixtures("redis_url", "image")


@pytest.fixture
def as_staff(staff: User) -> Client:
    client = Client()
    client.force_login(staff)
    return client


@pytest.fixture
def old(owner: User, settings: LazySettings) -> Trace:
    """Ten days, where thirty are allowed."""
    settings.TRACE_DAYS, settings.PICTURE_DAYS = 30, 0
    trace = example_trace(owner, "An old one")
    Trace.objects.update(ended_at=timezone.now() - timedelta(days=10))
    return trace


def test_it_asks_before_it_takes_what_stayed_until_now(as_staff: Client, old: Trace) -> None:
    response = as_staff.post("/settings/retention/", {"traces": "3", "pictures": ""})
    page = response.content.decode()
    assert (response.status_code, Policy.of_settings()) == (400, Policy(30, 0))
    assert "<strong>1 trace</strong>" in page
    assert 'id="days-traces" name="traces" value="3"' in page
    assert 'name="agreed" value="3 0"' in page
    removal.tidy()
    assert Trace.objects.filter(pk=old.pk).exists()
    assert as_staff.post("/settings/retention/", {"traces": "3", "pictures": "", "agreed": "3 0"}).status_code == 302
    assert Policy.of_settings() == Policy(3, 0)
    removal.tidy()
    assert not Trace.objects.filter(pk=old.pk).exists()


def test_it_takes_no_yes_to_other_days(as_staff: Client, old: Trace) -> None:
    response = as_staff.post("/settings/retention/", {"traces": "1", "pictures": "", "agreed": "3 0"})
    assert (response.status_code, Policy.of_settings()) == (400, Policy(30, 0))


def test_it_tells_pictures_from_traces(as_staff: Client, old: Trace) -> None:
    page = as_staff.post("/settings/retention/", {"traces": "", "pictures": "5"}).content.decode()
    assert "the pictures of <strong>1 trace</strong>" in page


@pytest.mark.parametrize("days", ["0", "11", "60"])
def test_it_saves_at_once_what_takes_nothing_more(as_staff: Client, old: Trace, days: str) -> None:
    assert as_staff.post("/settings/retention/", {"traces": days}).status_code == 302
    assert Policy.of_settings() == Policy(int(days), 0)


def test_it_does_not_ask_about_what_goes_already(as_staff: Client, old: Trace, settings: LazySettings) -> None:
    settings.TRACE_DAYS = 9
    assert as_staff.post("/settings/retention/", {"traces": "8"}).status_code == 302
