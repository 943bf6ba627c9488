"""The wall in a real Chromium: keys, selection over live updates, new pictures, a kiosk that outlives a bad network."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from .site import Site
from .test_pages_in_browser import check, needs_axe, opened


@pytest.fixture(scope="module", autouse=True)
def _cleared(site: Site) -> Iterator[None]:
    yield
    site.run("tests.web.wall_seed", "clear")


def connected(page: Page) -> None:
    expect(page.locator("[data-conn]")).to_have_attribute("data-state", "connected")


@needs_axe
def test_it_is_used_by_keys_and_keeps_what_is_selected(browser: Browser, site: Site) -> None:
    booting = site.facts["machines"]["booting"]
    with opened(browser, site, "/machines/wall/") as page:
        connected(page)
        page.keyboard.press("End")
        page.keyboard.press("Home")
        first = page.locator(".tile-title a").first
        expect(first).to_be_focused()
        page.keyboard.press("ArrowRight")
        expect(page.locator(".tile-title a").nth(1)).to_be_focused()
        page.keyboard.press(" ")
        expect(page.get_by_text("1 selected")).to_be_visible()
        site.seed("move", booting, "ready")
        expect(page.locator(f"[data-tile='{booting}']")).to_have_attribute("data-state", "ready")
        expect(page.get_by_text("1 selected")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.get_by_text("selected")).to_be_hidden()
        first.focus()
        page.keyboard.press(" ")
        page.get_by_role("button", name="Tag").click()
        page.get_by_label("Add").fill("from the wall")
        page.get_by_role("button", name="Tag 1 machine").click()
        expect(page.get_by_text("Its tags are changed.")).to_be_visible()
        check(page)
        page.get_by_role("link", name="Back to the machines").click()
        page.wait_for_url("**/machines/wall/")


def test_it_keeps_a_tile_live_and_opens_it_by_keys(browser: Browser, site: Site) -> None:
    ready = site.facts["machines"]["ready"]
    with opened(browser, site, "/machines/wall/") as page:
        connected(page)
        page.locator(f"#tile-{ready}").focus()
        page.keyboard.press("p")
        expect(page.locator(f"#pin-{ready}")).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("p")
        expect(page.locator(f"#pin-{ready}")).to_have_attribute("aria-pressed", "false")
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/machines/{ready}/")


def test_it_shows_new_pictures_until_it_is_paused(browser: Browser, site: Site) -> None:
    ready = site.facts["machines"]["ready"]
    looks: list[str] = []
    with opened(browser, site, "/healthz") as page:
        page.clock.install()
        page.goto(f"{site.url}/machines/wall/")
        picture = page.locator(f"[data-tile='{ready}'] img[src*='thumb.webp']")
        for colour in ("red", "green"):
            site.run("tests.web.wall_seed", "picture", ready, colour)
            name = page.wait_for_function(NEWER, arg=ready).json_value()
            expect(picture).to_have_attribute("data-name", name)
        page.keyboard.press("u")
        expect(page.get_by_role("button", name="Go on")).to_have_attribute("aria-pressed", "true")
        site.run("tests.web.wall_seed", "picture", ready, "blue")
        page.on("request", lambda request: looks.append(request.url) if "/pictures/" in request.url else None)
        page.clock.run_for(10_000)
        expect(picture).to_have_attribute("data-name", name)
        assert looks == []
        page.keyboard.press("u")
        expect(picture).not_to_have_attribute("data-name", name)


NEWER = """id => {
  const name = document.querySelector(`[data-tile="${id}"] img`)?.dataset.name;
  if (!name || name === window.before) return null;
  return (window.before = name);
}"""


def test_it_turns_pages_by_itself_and_outlives_a_bad_network(browser: Browser, site: Site) -> None:
    with browser.new_context() as context:
        context.add_cookies(site.cookies("ann"))
        page = context.new_page()
        page.clock.install()
        page.goto(f"{site.url}/machines/wall/kiosk/?q=one&tab=running")
        expect(page.locator("[data-tile]").first).to_be_visible()
        shown = page.locator("[data-tile]").count()
        page.context.set_offline(True)
        page.clock.run_for(21_000)
        expect(page.get_by_text("Waiting for the server.")).to_be_visible()
        expect(page.locator("[data-tile]")).to_have_count(shown)
        page.context.set_offline(False)
        page.clock.run_for(21_000)
        expect(page.get_by_text("Waiting for the server.")).to_be_hidden()
        before = page.locator("[data-tile]").first.element_handle()
        page.clock.run_for(21_000)
        page.wait_for_function("tile => !tile.isConnected", arg=before)
        expect(page.locator("[data-tile]")).to_have_count(shown)
