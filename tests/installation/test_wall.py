"""A real machine on the wall: its picture made by a worker, its desktop live in a tile, its end by a bulk action."""

import re

from playwright.sync_api import Browser, Page, expect

from .running import Up

PATIENCE = 60_000
LOADED = "image => image.complete && image.naturalWidth"


def create(page: Page, url: str, name: str) -> None:
    page.goto(f"{url}/machines/new/")
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Create machine").click()
    expect(page.locator("[data-screen] canvas")).to_be_visible(timeout=PATIENCE)


def test_it_shows_a_real_desktop_small_then_live_and_ends_it(running: Up, browser: Browser) -> None:
    url = running.installation.url
    with browser.new_context(viewport={"width": 1440, "height": 900}) as context:
        page = context.new_page()
        page.goto(running.installation.login_link())
        page.wait_for_url(f"{url}/")
        create(page, url, "on the wall")
        page.goto(f"{url}/machines/wall/")
        tile = page.locator("[data-tile]", has_text="on the wall")
        picture = tile.locator("img[src*='thumb.webp']")
        expect(picture).to_be_visible(timeout=PATIENCE)
        assert picture.evaluate(LOADED) == 480
        colours = page.evaluate(COLOURS, picture.element_handle())
        assert colours > 20, "a desktop with a wallpaper and a panel has more than a few colours"

        tile.hover()
        expect(tile.get_by_text("Live")).to_be_visible(timeout=PATIENCE)
        expect(tile.locator("canvas")).to_be_visible()
        page.keyboard.press("u")
        expect(tile.locator("canvas")).to_have_count(0)

        page.goto(f"{url}/machines/wall/kiosk/")
        expect(picture).to_be_visible(timeout=PATIENCE)

        page.goto(f"{url}/machines/wall/")
        page.get_by_label("Select on the wall").check()
        page.get_by_role("button", name="Destroy").click()
        page.get_by_role("button", name="Destroy 1 machine").click()
        expect(page.get_by_text("It is being destroyed.")).to_be_visible()
        page.get_by_role("link", name="on the wall").click()
        expect(page.get_by_text(re.compile("Destroying, as .* asked"))).to_be_visible()
        expect(page.get_by_text("Nothing of it is left on the host")).to_be_visible(timeout=PATIENCE)


COLOURS = """image => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 120, height: 75 });
  const paper = canvas.getContext("2d");
  paper.drawImage(image, 0, 0, 120, 75);
  const pixels = new Uint32Array(paper.getImageData(0, 0, 120, 75).data.buffer);
  return new Set(pixels).size;
}"""
