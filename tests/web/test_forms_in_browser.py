"""Sending a form in a real Chromium: by keys, once, and the one that was meant."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from .site import Site
from .test_pages_in_browser import opened

KEY = "sk-typed-and-not-sent-yet"
LAST = "/sent/at/last/"
SEND = """address => {
  const form = document.createElement("form");
  Object.assign(form, { method: "post", action: address });
  document.body.append(form);
  form.submit();
}"""


@contextmanager
def caught(page: Page) -> Iterator[list[str]]:
    """Where the page sends forms to. None arrives, and the page stays."""
    addresses: list[str] = []
    page.on("request", lambda request: addresses.append(request.url) if is_form(request) else None)
    page.route("**", lambda route: route.fulfill(status=204) if is_form(route.request) else route.fallback())
    yield addresses


def is_form(request: Request) -> bool:
    return request.method == "POST" and request.is_navigation_request()


def last(page: Page) -> None:
    """One more, past the page's own rules: whatever was sent before has been caught by the time that this is."""
    with page.expect_request(f"**{LAST}"):
        page.evaluate(SEND, LAST)


def test_it_starts_one_task_however_often_one_presses(browser: Browser, site: Site) -> None:
    with opened(browser, site, "/tasks/new/?example=chart") as page, caught(page) as sent:
        page.get_by_label("What should the agent do?").focus()
        page.keyboard.down("Control")
        for _ in range(3):
            page.keyboard.down("Enter")
        page.keyboard.up("Enter")
        page.keyboard.press("Enter")
        page.keyboard.up("Control")
        page.get_by_role("button", name="Start").dblclick(force=True)
        last(page)
        assert sent == [f"{site.url}/tasks/new/", f"{site.url}{LAST}"]


def test_it_sends_again_after_one_came_back(browser: Browser, site: Site) -> None:
    with opened(browser, site, "/tasks/new/") as page:
        for _ in range(2):
            with page.expect_navigation():
                page.get_by_label("What should the agent do?").press("Control+Enter")
            expect(page.locator("#errors")).to_be_focused()
        page.go_back()
        with page.expect_navigation():
            page.get_by_label("What should the agent do?").press("Control+Enter")


def test_it_sends_no_other_form_than_the_one_that_one_is_in(browser: Browser, site: Site) -> None:
    with opened(browser, site, "/settings/", who="boss") as page, caught(page) as sent:
        field = page.locator("input[type=password]").first
        field.fill(KEY)
        field.press("Control+Enter")
        page.get_by_label("Search all traces").press("Control+Enter")
        last(page)
        assert sent == [f"{site.url}{LAST}"]
        expect(field).to_have_value(KEY)
        page.locator("main").focus()
        with page.expect_request("**/settings/"):
            page.keyboard.press("Control+Enter")


def test_it_puts_the_sheet_of_keys_away_twice(browser: Browser, site: Site) -> None:
    with opened(browser, site, "/settings/") as page:
        for _ in range(2):
            page.keyboard.press("?")
            page.get_by_role("dialog").get_by_role("button", name="Close").click()
            expect(page.get_by_role("dialog")).to_be_hidden()


@pytest.fixture(scope="module")
def trace(site: Site) -> str:
    return str(json.loads(site.run("tests.web.trace_seed", "all", "ann"))["pivot"])


def test_it_writes_a_note_of_a_trace_by_keys_and_once(browser: Browser, site: Site, trace: str) -> None:
    sent: list[str] = []
    with opened(browser, site, f"/traces/{trace}/?tab=notes") as page:
        page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
        note = page.get_by_label("Note about this step")
        note.fill("Here it goes wrong.")
        page.keyboard.down("Control")
        for _ in range(3):
            page.keyboard.down("Enter")
        page.keyboard.up("Control")
        expect(page.locator(".remarks")).to_contain_text("Here it goes wrong.")
        expect(note).to_have_value("")
        assert len(sent) == 1
