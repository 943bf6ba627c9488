"""Branches in a real Chromium: the sheet that begins them, their tiles, and all of it without scripts."""

import json
import re

import pytest
from playwright.sync_api import Browser, Page, expect

from .site import Site
from .test_pages_in_browser import check, needs_axe, opened

Facts = dict[str, dict[str, str]]
PAGES = (
    "/traces/{trace}/branches/",
    "/traces/{trace}/fork/?branch=main",
    "/traces/{trace}/branches/delete/?branch=b3",
    "/traces/{trace}/merge/?a=b3&b=b2&file=report.csv",
)


@pytest.fixture(scope="module")
def runs(site: Site) -> Facts:
    found: Facts = json.loads(site.run("tests.web.branch_seed", "ann").splitlines()[-1])
    return found


def tiles(page: Page) -> list[str]:
    return page.locator(".btile b").all_inner_texts()


def test_it_begins_a_branch_from_the_step_one_looks_at(browser: Browser, site: Site, runs: Facts) -> None:
    with opened(browser, site, f"/traces/{runs['over']['trace']}/?branch=main") as page:
        page.keyboard.press("k")
        page.keyboard.press("r")
        sheet = page.locator("dialog.sheet")
        expect(sheet).to_contain_text("3 steps back")
        page.keyboard.press("Escape")
        expect(sheet).to_have_count(0)
        for key in ("g", "g", "j", "j", "j", "r"):
            page.keyboard.press(key)
        expect(sheet).to_contain_text("Begins after step 4")
        expect(sheet.get_by_label("Hint")).to_be_focused()
        page.keyboard.type("By the menu instead.")
        page.keyboard.press("Control+Enter")
        page.wait_for_url("**/runs/*/?branch=b4")
        expect(page.locator(".btile[aria-current] b")).to_have_text("b4")
        assert tiles(page) == ["main", "b1", "b2", "b3", "b4"]


def test_it_selects_a_branch_by_its_tile(browser: Browser, site: Site, runs: Facts) -> None:
    with opened(browser, site, f"/tasks/{runs['going']['task']}/") as page:
        expect(page.locator(".btile", has_text="b3")).to_contain_text("Running")
        page.locator(".btile", has_text="b2").click()
        expect(page.locator(".btile[aria-current]")).to_contain_text("2/2")
        expect(page.locator(".outcome")).to_contain_text("The report is written.")


def test_it_is_all_there_without_scripts(browser: Browser, site: Site, runs: Facts) -> None:
    with opened(browser, site, f"/traces/{runs['going']['trace']}/?branch=b2", js=False) as page:
        page.get_by_role("link", name="Run from here").first.click()
        page.get_by_label("Hint").fill("Once more.")
        page.get_by_role("button", name="Begin").click()
        expect(page.locator(".btile b").last).to_have_text("b4")
        page.goto(f"{site.url}/traces/{runs['going']['trace']}/branches/")
        page.get_by_role("button", name="Pick b2").click()
        expect(page.locator("#choice")).to_have_text("ann picked b2")
        page.get_by_role("link", name="Delete b1").click()
        expect(page.locator(".gives")).to_contain_text("100.0")
        page.get_by_role("button", name="Delete it").click()
        expect(page.locator(".branch-row", has_text="b1")).to_have_count(0)


def test_its_tree_offers_what_can_be_done_with_a_step(browser: Browser, site: Site, runs: Facts) -> None:
    with opened(browser, site, f"/traces/{runs['over']['trace']}/?branch=b1") as page:
        page.locator(".node[data-in=b1]").last.click(button="right")
        page.get_by_role("menuitem", name="Run from here").click()
        expect(page.locator("dialog.sheet")).to_contain_text("“when it was stopped”")
        page.get_by_role("link", name="Not now").click()
        expect(page.locator("dialog.sheet")).to_have_count(0)
        page.get_by_role("link", name=re.compile("Branches")).click()
        expect(page.locator("#choice")).to_contain_text("b2 was chosen")


@needs_axe
@pytest.mark.parametrize("path", PAGES)
def test_it_is_accessible_and_fits(browser: Browser, site: Site, runs: Facts, path: str) -> None:
    with opened(browser, site, path.format(**runs["over"])) as page:
        check(page)


@needs_axe
def test_its_sheet_is_accessible_and_fits(browser: Browser, site: Site, runs: Facts) -> None:
    with opened(browser, site, f"/traces/{runs['over']['trace']}/?branch=main") as page:
        page.keyboard.press("r")
        expect(page.locator("dialog.sheet")).to_be_visible()
        check(page)


@needs_axe
def test_its_tiles_are_accessible_and_fit(browser: Browser, site: Site, runs: Facts) -> None:
    with opened(browser, site, f"/tasks/{runs['over']['task']}/?branch=b2") as page:
        check(page)
