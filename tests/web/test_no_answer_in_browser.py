"""A login that ended under an open page, and a server that does not answer: nothing is lost, and one is told."""

import json
import re

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from .site import Site
from .test_pages_in_browser import opened

ENDED = "Your login has ended. Log in again; what you typed is still here."
WORDS = "Use the blue form."


@pytest.fixture(scope="module")
def trace(site: Site) -> str:
    return str(json.loads(site.run("tests.web.trace_seed", "all", "ann"))["pivot"])


def log_out(page: Page, site: Site) -> None:
    page.context.clear_cookies(name=site.facts["sessions"]["ann"][0])


def fail(route: Route) -> None:
    route.fulfill(status=429)


def test_it_gives_a_note_back_that_was_not_sent(browser: Browser, site: Site) -> None:
    task, run = site.made("tasks")["running"]
    with opened(browser, site, f"/tasks/{task}/runs/{run}/") as page:
        note = page.get_by_label("Send a note to the agent")
        note.fill(WORDS)
        log_out(page, site)
        note.press("Control+Enter")
        expect(page.get_by_text(ENDED)).to_be_visible()
        expect(note).to_have_value(WORDS)
        site.seed("step", run)
        with page.expect_response(lambda answer: "/login/" in answer.url):
            page.evaluate("document.querySelector('a[data-swap]').click()")
        expect(note).to_have_value(WORDS)


def test_it_keeps_a_remark_and_shows_no_login_among_the_steps(browser: Browser, site: Site, trace: str) -> None:
    with opened(browser, site, f"/traces/{trace}/?tab=notes") as page:
        remark = page.get_by_label("Note about this step")
        remark.fill(WORDS)
        log_out(page, site)
        remark.press("Control+Enter")
        expect(page.get_by_text(ENDED)).to_be_visible()
        expect(remark).to_have_value(WORDS)
        page.locator(".node", has_text="6 steps").click()
        expect(page.locator("[data-tree-panel] input[type=password]")).to_have_count(0)
        page.get_by_role("link", name="First step").click()
        expect(page.locator("[data-detail]")).to_contain_text(
            "The details of this step are missing: your login has ended."
        )
        expect(page.locator("input[type=password]")).to_have_count(0)


def test_it_shows_no_details_of_another_step(browser: Browser, site: Site, trace: str) -> None:
    with opened(browser, site, f"/traces/{trace}/") as page:
        body = page.locator("[data-body]")
        expect(body).to_contain_text("Checks: 1 passed, 1 failed")
        page.route(re.compile(r"/steps/\d+/"), fail)
        page.keyboard.press("Home")
        expect(body).to_have_text(re.compile("^The details of this step are missing"))
        page.unroute(re.compile(r"/steps/\d+/"))
        page.keyboard.press("j")
        page.keyboard.press("Home")
        expect(body).to_contain_text("Pivot the sales sheet by region and month.")


def test_it_repeats_a_search_that_failed(browser: Browser, site: Site, trace: str) -> None:
    with opened(browser, site, f"/traces/{trace}/") as page:
        page.route("**/search/?*", fail)
        field, count = page.get_by_label("Search this trace"), page.locator("[data-count]")
        field.fill("python3")
        expect(count).to_have_text("No answer. Enter tries again.")
        page.unroute("**/search/?*")
        field.press("Enter")
        expect(count).to_have_text("1 of 1 hit")
