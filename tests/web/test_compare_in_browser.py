import re
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from .site import Site
from .test_pages_in_browser import check, needs_axe, opened

PAGES = ("/traces/{example}/compare/", "/traces/{example}/compare/?view=slider", "/traces/{single}/compare/")


@pytest.fixture(scope="module")
def traces(site: Site) -> dict[str, Any]:
    return dict(site.made("traces"))


def rows_at(page: Page) -> list[str | None]:
    return [row.get_attribute("data-row") for row in page.locator(".cmp-line[aria-current]").all()]


def source(page: Page, side: str) -> str:
    return page.locator(f"[data-pane={side}] img").get_attribute("src") or ""


@needs_axe
@pytest.mark.parametrize("path", PAGES)
def test_it_is_accessible_and_fits(browser: Browser, site: Site, traces: dict[str, Any], path: str) -> None:
    with opened(browser, site, path.format(**traces), fresh=False) as page:
        check(page)


def test_it_moves_by_keys_and_remembers_in_the_address(browser: Browser, site: Site, traces: dict[str, Any]) -> None:
    with opened(browser, site, f"/traces/{traces['example']}/compare/?row=0") as page:
        assert rows_at(page) == ["0"]
        page.keyboard.press("v")
        expect(page.locator('.cmp-line[data-row="1"]')).to_be_focused()
        for key, row in (("j", 2), ("ArrowRight", 3), ("k", 2), (".", 4), (",", 2), ("End", 7), ("Home", 0)):
            page.keyboard.press(key)
            assert rows_at(page) == [str(row)], key
        page.keyboard.press(".")
        page.keyboard.press("2")
        page.keyboard.press("b")
        assert re.search(r"a=main&b=b1&row=1&view=slider&moment=before$", page.url)
        page.reload()
        assert rows_at(page) == ["1"]
        expect(page.get_by_role("button", name="Slider")).to_have_attribute("aria-pressed", "true")


def test_it_changes_both_pictures_with_the_row(browser: Browser, site: Site, traces: dict[str, Any]) -> None:
    with opened(browser, site, f"/traces/{traces['example']}/compare/") as page:
        page.locator('.cmp-line[data-row="3"]').click()
        assert source(page, "a") == source(page, "b"), "the same step shows the same screen"
        assert page.locator("[data-pane=a] .marks circle").count() == 0
        page.keyboard.press("b")
        assert page.locator("[data-pane=a] .marks circle").count() == 2
        page.keyboard.press("a")
        page.keyboard.press("j")
        expect(page.locator("[data-pane=b]")).to_have_class(re.compile("past"))
        expect(page.locator("[data-pane=b] figcaption")).to_contain_text("No step here")
        assert source(page, "a") != source(page, "b")
        for side in ("a", "b"):
            page.wait_for_function(
                "side => document.querySelector(`[data-pane=${side}] img`).naturalWidth > 0", arg=side
            )


def test_it_scrubs_both_together_or_each_alone(browser: Browser, site: Site, traces: dict[str, Any]) -> None:
    with opened(browser, site, f"/traces/{traces['example']}/compare/") as page:
        row = page.get_by_label("Row", exact=True)
        row.fill("3")
        assert rows_at(page) == ["3"]
        assert "Row 3 of 7, same" in (row.get_attribute("aria-valuetext") or "")
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Linked").click()
        expect(row).to_be_hidden()
        page.get_by_label("Step of B").fill("0")
        assert rows_at(page) == ["0", "3"]
        page.get_by_label("Step of A").press("ArrowRight")
        assert rows_at(page) == ["0", "4"]
        page.get_by_role("button", name="Apart").click()
        assert rows_at(page) == ["4"]


def test_it_wipes_with_a_range_and_blinks_only_where_motion_is_welcome(
    browser: Browser, site: Site, traces: dict[str, Any]
) -> None:
    with opened(browser, site, f"/traces/{traces['example']}/compare/") as page:
        clip = "getComputedStyle(document.querySelector('[data-pane=b] .pane-shot')).clipPath"
        assert page.evaluate(clip) == "none"
        page.keyboard.press("2")
        page.get_by_label("How much of A covers B").fill("30")
        assert page.evaluate(clip) == "inset(0px 0px 0px 30%)"
        page.clock.install()
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Blink").click()
        shows = page.locator("[data-pair]")
        page.clock.run_for(5000)
        expect(shows).to_have_attribute("data-shows", "a")
        page.get_by_role("button", name="B", exact=True).click()
        expect(page.locator("[data-pane=a] img")).to_be_hidden()
        page.emulate_media(reduced_motion="no-preference")
        page.get_by_role("button", name="Blink").click()
        page.clock.run_for(1000)
        expect(shows).to_have_attribute("data-shows", "a")
        page.get_by_role("button", name="Side by side").click()
        page.clock.run_for(1000)
        expect(shows).to_have_attribute("data-shows", "a")


def test_it_shows_one_of_both_on_a_phone(browser: Browser, site: Site, traces: dict[str, Any]) -> None:
    with opened(browser, site, f"/traces/{traces['example']}/compare/") as page:
        page.set_viewport_size({"width": 390, "height": 844})
        expect(page.locator("[data-pane=a] img")).to_be_visible()
        expect(page.locator("[data-pane=b] img")).to_be_hidden()
        page.get_by_role("button", name="B", exact=True).click()
        expect(page.locator("[data-pane=b] img")).to_be_visible()
        expect(page.locator("[data-pane=a] img")).to_be_hidden()


def test_it_compares_without_javascript(browser: Browser, site: Site, traces: dict[str, Any]) -> None:
    with opened(browser, site, f"/traces/{traces['single']}/compare/", js=False) as page:
        page.get_by_label("Path B").select_option(value=f"{traces['example']}:")
        page.get_by_role("button", name="Compare").click()
        page.get_by_label("Path B").select_option(value=f"{traces['example']}:b1")
        page.get_by_role("button", name="Compare").click()
        expect(page.locator(".cmp-line").last).to_contain_text("Checks: 2 passed")
        page.locator(".cmp-line").last.click()
        page.get_by_role("link", name="Before").click()
        page.get_by_role("link", name="Previous row").click()
        expect(page.locator("[data-pane=b] figcaption")).to_contain_text("pivot.csv came out")
        expect(page.get_by_role("button", name="Slider")).to_be_hidden()
        page.get_by_role("link", name="First divergence").click()
        page.get_by_role("link", name="Swap A and B").click()
        expect(page.get_by_label("Path A")).to_have_value(f"{traces['example']}:b1")
