"""What is wrong with the installation stands above every page, which works on; and an error has a number."""

import re
from contextlib import closing

import pytest
from django.conf import LazySettings
from django.db import DatabaseError
from django.test import Client
from playwright.sync_api import Browser, expect

from godhand_web.cli import doctor
from godhand_web.pages import tasks
from sandboxes.host import here
from tests.broker import Broker

from .site import Site
from .test_pages_in_browser import check, needs_axe, new_context

PAGES = ("/", "/tasks/", "/tasks/new/", "/schedules/", "/machines/", "/machines/wall/", "/traces/", "/settings/")


def test_it_says_nothing_where_nothing_is_wrong(as_owner: Client, redis_url: str) -> None:
    assert "What is wrong now" not in as_owner.get("/").content.decode()


@pytest.mark.parametrize("path", PAGES)
def test_it_shows_its_pages_without_redis_and_says_so(as_owner: Client, settings: LazySettings, path: str) -> None:
    settings.REDIS_URL = "unix:///nowhere/redis.sock"
    for headers in ({}, {"X-Fragment": "1"}):
        response = as_owner.get(path, headers=headers)
        assert response.status_code == 200
        assert "Redis does not answer." in response.content.decode()


@pytest.mark.usefixtures("redis_url")
def test_it_says_when_the_disk_is_nearly_full(as_owner: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LEAST_FREE", 2**60)
    page = as_owner.get("/tasks/").content.decode()
    assert "The disk is nearly full." in page
    assert re.search(r"\d+ GiB free\. ", page)
    assert str(here().home) not in page


@pytest.mark.usefixtures("redis_url")
def test_it_gives_a_mistake_the_number_that_is_in_the_log(
    as_owner: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise DatabaseError("disk I/O error")

    monkeypatch.setattr(tasks, "visible_tasks", fail)
    as_owner.raise_request_exception = False
    response = as_owner.get("/tasks/")
    number = re.search(r'class="number"[^>]*>([a-z0-9]+)<', response.content.decode())
    assert response.status_code == 500
    assert number
    (told,) = [record for record in caplog.records if number[1] in record.getMessage()]
    assert told.exc_info
    assert told.exc_info[0] is DatabaseError


@needs_axe
def test_it_tells_an_open_page_that_redis_has_gone_and_is_back(
    browser: Browser, own_site: Site, broker: Broker
) -> None:
    with closing(new_context(browser, own_site, "ann", js=True)) as context:
        page = context.new_page()
        page.goto(f"{own_site.url}/machines/")
        trouble = page.get_by_role("complementary", name="What is wrong now")
        expect(page.locator("[data-conn]")).to_have_attribute("data-state", "connected")
        expect(trouble).not_to_be_attached()
        broker.stop()
        expect(trouble).to_contain_text("Redis does not answer.", timeout=40_000)
        check(page)
        broker.start()
        expect(trouble).not_to_be_attached(timeout=40_000)
