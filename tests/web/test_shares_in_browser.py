"""The pages of links and of room in a real Chromium, for their maker and for strangers."""

import json
import re

import pytest
from playwright.sync_api import Browser, Page, expect

from .site import Site
from .test_pages_in_browser import check, needs_axe, opened


@pytest.fixture(scope="module")
def facts(site: Site) -> dict[str, str]:
    """The last line; those before it are the log's."""
    return json.loads(site.run("tests.web.seed_shares").splitlines()[-1])  # type: ignore[no-any-return]


PAGES = (
    "/traces/{example}/share/",
    "/shares/",
    "/shares/{share}/",
    "/shares/{draft}/",
    "/settings/space/",
    "/traces/{example}/delete/",
)
SHARED = ("/shared/{share}/", "/shared/{share}/take/")


@needs_axe
@pytest.mark.parametrize("path", PAGES)
def test_it_is_accessible_and_fits(browser: Browser, site: Site, facts: dict[str, str], path: str) -> None:
    with opened(browser, site, path.format(**facts), fresh=False) as page:
        check(page)


@needs_axe
@pytest.mark.parametrize("path", ["/s/{token}/", "/s/wrong/", *SHARED])
def test_it_greets_strangers(browser: Browser, site: Site, facts: dict[str, str], path: str) -> None:
    with opened(browser, site, f"/s/{facts['token']}/", who="") as page:
        page.goto(site.url + path.format(**facts))
        check(page)


def test_it_asks_nothing_but_its_own_pages(browser: Browser, site: Site, facts: dict[str, str]) -> None:
    asked: list[str] = []
    with opened(browser, site, "/login/", who="") as page:
        page.on("request", lambda request: asked.append(request.url.removeprefix(site.url)))
        page.on("websocket", lambda socket: asked.append(f"socket {socket.url}"))
        page.goto(f"{site.url}/s/{facts['token']}/")
        page.wait_for_url(f"**/shared/{facts['share']}/**")
        page.keyboard.press("Home")
        page.keyboard.press("ArrowRight")
        page.keyboard.press("5")
        expect(page.locator("[data-body]")).to_have_attribute("data-shows", "files")
    allowed = re.compile(rf"/static/|/assets/|/s/{facts['token']}/$|/shared/{facts['share']}/|data:|blob:")
    assert [address for address in asked if not allowed.match(address)] == []
    assert any("/steps/" in address for address in asked)


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    box = page.locator("[data-mask]").bounding_box()
    assert box
    places = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in (start, end)]
    page.mouse.move(*places[0])
    page.mouse.down()
    page.mouse.move(*places[1], steps=4)
    page.mouse.up()


def test_it_lets_one_draw_what_to_hide(browser: Browser, site: Site, facts: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{facts['example']}/share/") as page:
        drag(page, (0.25, 0.25), (0.75, 0.5))
        field = page.get_by_label("Rectangles")
        x, y, width, height = map(int, field.input_value().split())
        assert abs(x - 320) <= 4
        assert abs(y - 200) <= 4
        assert abs(width - 640) <= 4
        assert abs(height - 200) <= 4
        expect(page.locator("[data-mask] rect")).to_have_count(1)
        field.fill("1 2 30 40\n5 6 70 80")
        expect(page.locator("[data-mask] rect")).to_have_count(2)
        page.get_by_label("Some steps of a branch").check()
        expect(page.get_by_label("From step")).to_be_visible()
        page.get_by_label("The whole trace").check()
        expect(page.get_by_label("From step")).to_be_hidden()


def test_it_makes_a_draft_without_javascript(browser: Browser, site: Site, facts: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{facts['example']}/share/", js=False) as page:
        page.get_by_label("Words").fill("pandas")
        page.get_by_role("button", name="Make the copy").click()
        expect(page.get_by_text("Waiting for a worker")).to_be_visible()
        page.get_by_role("button", name="Cancel").click()
        page.wait_for_url(f"**/traces/{facts['example']}/")
