"""The hand-back dialog in a real Chromium. Behind it nothing can be reached, so it has all one needs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .site import Site
from .test_pages_in_browser import check, needs_axe, opened

BEAT = 15_000
NOTE = "I logged in. Fill in the form."
Facts = dict[str, str]


@pytest.fixture
def driven(site: Site) -> Facts:
    found: Facts = json.loads(site.run("tests.web.lease_seed", "driven").splitlines()[-1])
    return found


@contextmanager
def asked(browser: Browser, site: Site, driven: Facts) -> Iterator[tuple[Page, Locator]]:
    """The page, whose clock is the test's, and the dialog."""
    with opened(browser, site, "/healthz") as page:
        page.clock.install()
        page.goto(f"{site.url}/tasks/{driven['task']}/runs/{driven['run']}/")
        page.get_by_role("button", name="Hand back").click()
        dialog = page.get_by_role("dialog", name="Hand back to the agent")
        expect(dialog).to_be_visible()
        yield page, dialog


def beaten(page: Page) -> str:
    with page.expect_request("**/lease/beat/") as told:
        page.clock.run_for(BEAT)
    return told.value.post_data or ""


def test_it_counts_writing_the_note_as_use(browser: Browser, site: Site, driven: Facts) -> None:
    with asked(browser, site, driven) as (page, _):
        page.keyboard.type(NOTE)
        assert beaten(page) == "longer=1"
        assert beaten(page) == ""


@needs_axe
def test_it_warns_and_extends_within_the_dialog(browser: Browser, site: Site, driven: Facts) -> None:
    with asked(browser, site, driven) as (page, dialog):
        expect(dialog).to_contain_text("left")
        site.run("tests.web.lease_seed", "left", driven["machine"], "40")
        beaten(page)
        expect(dialog).to_contain_text("Your control ends in 0:")
        check(page)
        dialog.get_by_role("button", name="Extend").focus()
        page.clock.run_for(2_000)
        page.keyboard.press("Enter")
        expect(dialog).to_contain_text("4:5")


def test_it_keeps_the_note_when_the_time_is_over(browser: Browser, site: Site, driven: Facts) -> None:
    with asked(browser, site, driven) as (page, dialog):
        page.keyboard.type(NOTE)
        site.run("tests.web.lease_seed", "left", driven["machine"], "0")
        expect(dialog).to_contain_text("To hand back, take over again. What you wrote stays here.")
        page.keyboard.press("Control+Enter")
        expect(dialog.get_by_role("alert")).to_contain_text("You are not driving any more.")
        expect(dialog.get_by_role("textbox")).to_have_value(NOTE)
        dialog.get_by_role("button", name="Take over").click()
        expect(dialog.get_by_role("button", name="Extend")).to_be_visible()
        dialog.get_by_role("textbox").press("Control+Enter")
        expect(dialog).to_be_hidden()
    assert json.loads(site.run("tests.web.lease_seed", "told", driven["run"]))["note"] == NOTE


def test_it_says_in_the_dialog_why_there_is_no_branch(browser: Browser, site: Site, driven: Facts) -> None:
    with asked(browser, site, driven) as (page, dialog):
        page.keyboard.type(NOTE)
        dialog.locator("[value=branch]").evaluate("choice => { choice.checked = true }")
        page.keyboard.press("Control+Enter")
        expect(dialog.get_by_role("alert")).to_contain_text("The machine was not saved before the take-over")
        expect(dialog.get_by_role("textbox")).to_have_value(NOTE)
        expect(dialog).to_contain_text("left")
