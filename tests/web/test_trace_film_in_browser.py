"""The film of a trace, a window over it, the menu of a step, and what is on its stage, in a real Chromium."""

import json
import math
import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.guest.waiting import eventually

from .site import Site
from .test_pages_in_browser import check, needs_axe, opened
from .test_trace_page_in_browser import at, press, seed


@pytest.fixture(scope="module")
def pivot(site: Site) -> str:
    return str(json.loads(seed(site, "all", "ann"))["pivot"])


def middle(page: Page, number: int) -> tuple[float, float]:
    box = page.locator(f'.tile a[data-index="{number - 1}"]').bounding_box()
    assert box
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def apart(page: Page, one: int, other: int) -> float:
    """Endless while the tiles are being exchanged."""
    boxes = [page.locator(f'.tile a[data-index="{number - 1}"]').bounding_box() for number in (one, other)]
    left, right = boxes
    return abs(right["x"] - left["x"]) if left and right else math.inf


def test_it_stays_in_a_window_that_is_dragged_over_the_film(browser: Browser, site: Site, pivot: str) -> None:
    with opened(browser, site, f"/traces/{pivot}/") as page:
        at(page, 12, 12)
        rows = page.locator("[role=treeitem]:visible").count()
        page.mouse.move(*middle(page, 11))
        page.mouse.down()
        page.mouse.move(*middle(page, 9), steps=5)
        page.mouse.up()
        expect(page.get_by_label("From step")).to_have_value("9")
        expect(page.get_by_label("To step")).to_have_value("11")
        at(page, 11)
        press(page, "Home", "ArrowLeft")
        at(page, 9)
        page.get_by_label("From step").fill("10")
        page.get_by_label("From step").press("Enter")
        at(page, 10)
        step = page.locator('.tile a[data-index="9"]').get_attribute("href")
        page.wait_for_url(re.compile(re.escape(f"{step}&window=10-11") + "$"))
        page.reload()
        at(page, 10)
        assert page.locator("[role=treeitem]:visible").count() < rows
        page.locator("h1").click()
        press(page, "Escape", "Home")
        at(page, 1)
        expect(page.locator("[data-window]")).to_be_hidden()
        page.get_by_role("button", name="Only some of the steps").click()
        page.get_by_label("To step").fill("5")
        page.get_by_label("To step").press("Enter")
        expect(page.locator(".tile.out").first).to_be_attached()
        page.mouse.dblclick(*middle(page, 3))
        expect(page.locator("[data-window]")).to_be_hidden()
        expect(page.locator(".tile.out")).to_have_count(0)
        at(page, 3)


def test_it_spaces_the_film_by_time(browser: Browser, site: Site, pivot: str) -> None:
    with opened(browser, site, f"/traces/{pivot}/") as page:
        at(page, 12, 12)
        wide = apart(page, 11, 12)
        page.get_by_role("button", name="Time", exact=True).click()
        expect(page.locator(".film")).to_have_class("film timed")
        eventually(lambda: apart(page, 11, 12) < wide)
        press(page, "ArrowLeft")
        at(page, 11)


@needs_axe
def test_a_step_has_a_menu(browser: Browser, site: Site, pivot: str) -> None:
    with opened(browser, site, f"/traces/{pivot}/") as page:
        page.locator(".node[aria-selected=true]").click(button="right")
        entries = page.get_by_role("menuitem")
        expect(entries.first).to_be_focused()
        press(page, "ArrowDown", "j")
        at(page, 12, 12)
        check(page)
        press(page, "Escape")
        expect(entries.first).to_be_hidden()
        expect(page.locator(".node[aria-selected=true]")).to_be_focused()
        page.get_by_role("button", name="What to do with this step").click()
        page.get_by_role("menuitem", name="Export this branch").click()
        page.wait_for_url("**/export/?branch=main")


def test_it_says_when_nothing_changed(browser: Browser, site: Site, pivot: str) -> None:
    with opened(browser, site, f"/traces/{pivot}/?step=15&view=diff") as page:
        expect(page.get_by_text("Nothing changed")).to_be_visible()
        press(page, "a")
        expect(page.get_by_text("Nothing changed")).to_be_hidden()


def test_it_shows_the_screen_in_any_size(browser: Browser, site: Site, pivot: str) -> None:
    with opened(browser, site, f"/traces/{pivot}/") as page:
        frame = page.locator("[data-frame]")
        zoom = page.get_by_role("button", name="1:1")
        zoom.click()
        assert frame.evaluate("frame => frame.clientWidth") == 1280
        zoom.click()
        fits = frame.evaluate("frame => frame.clientWidth")
        assert fits < 1280
        page.locator("[data-stage]").hover()
        page.keyboard.down("Control")
        page.mouse.wheel(0, -100)
        page.wait_for_function("wide => document.querySelector('[data-frame]').clientWidth > wide", arg=fits)
        page.mouse.wheel(0, 100)
        page.mouse.wheel(0, 100)
        page.wait_for_function("wide => document.querySelector('[data-frame]').clientWidth === wide", arg=fits)
        page.keyboard.up("Control")


def test_it_shows_where_text_was_read(browser: Browser, site: Site, pivot: str) -> None:
    with opened(browser, site, f"/traces/{pivot}/?branch=b1") as page:
        press(page, "k", "k")
        page.get_by_role("button", name="Text that was read").click()
        spot = page.locator(".layer.read rect")
        expect(spot).to_be_visible()
        assert spot.get_attribute("x") == "420"
        expect(page.locator("[data-frame]")).to_have_attribute("data-view", "after")
        press(page, "k")
        expect(spot).to_have_count(0)


def test_it_copies_a_link_and_shows_its_keys(browser: Browser, site: Site, pivot: str) -> None:
    with opened(browser, site, f"/traces/{pivot}/?step=6") as page:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        press(page, "c")
        expect(page.locator(".toast")).to_contain_text("The link to this step is copied.")
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == f"{site.url}/traces/{pivot}/?step=6"
        press(page, "?")
        expect(page.get_by_role("dialog", name="Keyboard")).to_contain_text("Copy a link to this step")
        press(page, "Escape", "j")
        expect(page.get_by_role("dialog")).to_be_hidden()
        page.goto(copied)
        expect(page.locator(".tile a[aria-current]")).to_have_attribute("href", "?step=6")
