"""The page of a trace in a real Chromium: keys, scrubbing, search, links, what comes in live, and without scripts."""

import json
import re

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from .site import Site
from .test_pages_in_browser import check, needs_axe, opened

LIST = "/traces/"
PAGES = (
    "/traces/{pivot}/?branch=b1",
    "/traces/{pivot}/?tab=files&view=slider",
    "/traces/{hostile}/?tab=model",
    "/traces/{running}/?tab=notes&all=1",
)


def seed(site: Site, *argv: str) -> str:
    return site.run("tests.web.trace_seed", *argv)


@pytest.fixture(scope="module")
def traces(site: Site) -> dict[str, str]:
    found: dict[str, str] = json.loads(seed(site, "all", "ann"))
    return found


def at(page: Page, number: int, count: int | None = None) -> None:
    expect(page.locator("[data-at]")).to_have_text(re.compile(rf"^{number} / {count or ''}"))


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_it_walks_along_a_path_by_keys(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{traces['pivot']}/") as page:
        at(page, 12, 12)
        for keys, number in (
            (["ArrowLeft"], 11),
            (["k"], 10),
            (["ArrowRight", "j"], 12),
            (["g", "g"], 1),
            (["G"], 12),
            (["Home"], 1),
            (["End"], 12),
            (["Shift+ArrowLeft"], 9),
            (["Shift+ArrowLeft"], 2),
            (["Shift+ArrowRight"], 9),
            (["."], 12),
            (["v"], 9),
        ):
            press(page, *keys)
            at(page, number)
        expect(page.locator("[data-body]")).to_contain_text("Snapshot “before the edit”")
        expect(page.locator(".node[aria-selected=true]")).to_contain_text("before the edit")
        expect(page.locator(".tile a[aria-current]")).to_contain_text("9 · Snapshot")


def test_it_changes_branches_by_keys(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{traces['pivot']}/") as page:
        press(page, "v", "l")
        at(page, 9, 20)
        press(page, "l")
        at(page, 9, 11)
        expect(page.locator("[data-branch]")).to_have_value("b2")
        press(page, ".")
        at(page, 10)
        expect(page.locator("[data-body]")).to_contain_text("There is nothing there.")
        press(page, "End", ",")
        at(page, 10, 11)
        press(page, ",", "h", "h")
        at(page, 10, 12)
        press(page, "x", "l", "x")
        page.wait_for_url("**/compare/?a=main&b=b1")


def test_it_shows_the_screen_in_every_way(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{traces['pivot']}/?branch=main") as page:
        press(page, "k")
        frame, before, after = (page.locator(f"[data-{name}]").first for name in ("frame", "before", "after"))
        expect(frame).to_have_attribute("data-view", "action")
        expect(page.locator(".layer.marks polyline").first).to_be_visible()
        expect(page.locator(".layer.marks text")).to_have_text("11")
        press(page, "m")
        expect(page.locator(".layer.marks polyline").first).to_be_hidden()
        press(page, "m", "b")
        expect(before).to_be_visible()
        press(page, "a")
        expect(after).to_be_visible()
        expect(before).to_be_hidden()
        expect(page.locator(".layer.boxes rect").first).to_be_visible()
        press(page, "d")
        expect(page.locator("[data-diff]")).to_be_visible()
        page.get_by_role("link", name="Slider").click()
        page.get_by_label("How much of the picture before").fill("20")
        assert after.evaluate("image => image.style.clipPath") == "inset(0px 0px 0px 20%)"
        press(page, "f")
        expect(page.locator(".detail-panel")).to_be_hidden()
        press(page, "Escape")
        expect(page.locator(".detail-panel")).to_be_visible()


def test_it_has_a_key_for_every_tab(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{traces['pivot']}/?branch=b1") as page:
        press(page, "k", "k")
        texts = [
            "Clicked at 500, 440",
            "This is the way to go on.",
            "Quarterly invoice",
            "Provider",
            "sales.csv",
            "Note",
        ]
        for number, text in enumerate(texts, 1):
            press(page, str(number))
            expect(page.locator("[data-body]")).to_contain_text(text)
        press(page, "k")
        expect(page.locator(".tabs [aria-current]")).to_contain_text("Notes")


def test_it_remembers_what_was_unfolded_on_the_next_page(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{traces['pivot']}/?step=4") as page:
        raw, request = page.locator("[data-kept=json]"), page.locator("[data-kept=request]")
        raw.locator("summary").click()
        press(page, "j", "4")
        request.locator("summary").click()
        expect(request).not_to_have_attribute("open", "")
        page.goto(f"{site.url}/traces/{traces['running']}/?tab=model&step=4")
        expect(request).not_to_have_attribute("open", "")
        expect(page.locator("[data-kept=reply]")).to_have_attribute("open", "")
        press(page, "1")
        expect(raw).to_have_attribute("open", "")


def test_it_plays(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{traces['pivot']}/?step=5&branch=b1") as page:
        speed = page.locator("[data-speed]")
        press(page, ">", ">")
        expect(speed).to_have_text("4×")
        press(page, "<")
        expect(speed).to_have_text("2×")
        press(page, " ")
        expect(page.get_by_role("button", name="Pause")).to_be_visible()
        at(page, 20)
        expect(page.get_by_role("button", name="Play")).to_be_visible()
        press(page, "Home", " ")
        at(page, 2)
        expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_it_scrubs(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{traces['pivot']}/") as page:
        scrubber = page.get_by_label("Step", exact=True)
        scrubber.fill("3")
        at(page, 3)
        expect(scrubber).to_have_attribute("aria-valuetext", re.compile("Step 3 of 12, Clicked at 300, 200, 0:0"))
        press(page, "ArrowRight")
        at(page, 4)
        press(page, "k")
        at(page, 3)
        peek = page.locator("[data-peek]")
        expect(peek).to_contain_text("4 ·")
        expect(peek).to_be_in_viewport(ratio=0.95)
        press(page, "Escape")
        expect(peek).to_be_hidden()
        press(page, "ArrowRight")
        expect(peek).to_contain_text("4 ·")
        scrubber.blur()
        expect(peek).to_be_hidden()
        scrubber.hover()
        expect(peek).to_be_visible()
        press(page, "Escape")
        expect(peek).to_be_hidden()
        page.locator(".tile a", has_text="8 ·").click()
        at(page, 8)


def distance(left: Locator, right: Locator) -> float:
    one, other = left.bounding_box(), right.bounding_box()
    assert one
    assert other
    return other["x"] - one["x"] - one["width"]


def test_it_finds_steps_and_walks_from_hit_to_hit(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{traces['pivot']}/") as page:
        press(page, "/")
        page.keyboard.type("python3")
        count = page.locator("[data-count]")
        expect(count).to_have_text("1 hit")
        press(page, "Enter")
        at(page, 10, 20)
        expect(page.locator(".tile-sign .hit")).to_be_visible()
        page.get_by_label("Search this trace").fill("type:click")
        expect(count).to_have_text(re.compile("15 hits"))
        assert distance(page.get_by_label("Search this trace"), count) > 8
        page.get_by_label("Search this trace").blur()
        press(page, "Home", "n")
        at(page, 3)
        expect(count).to_have_text("1 of 15 hits")
        press(page, "n", "N")
        at(page, 3)
        press(page, "Escape")
        expect(count).to_be_empty()
        page.get_by_label("Search this trace").fill("nothing of the kind")
        expect(count).to_have_text("0 hits")


def test_it_keeps_its_place_in_the_address(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{traces['pivot']}/") as page:
        press(page, "l", "Home", "a", "2")
        expect(page).to_have_url(re.compile(r"\?step=1&branch=b1&tab=reasoning&view=after$"))
        page.reload()
        at(page, 1, 20)
        expect(page.locator("[data-frame]")).to_have_attribute("data-view", "after")
        expect(page.locator(".tabs [aria-current]")).to_contain_text("Reasoning")


def test_it_opens_runs_of_steps_in_the_tree(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{traces['pivot']}/") as page:
        rows = page.locator("[role=treeitem]:visible")
        shown = rows.count()
        page.locator(".node[aria-selected=true]").focus()
        press(page, "Home", "ArrowDown", "ArrowDown", "ArrowRight")
        expect(rows).to_have_count(shown + 5)
        expect(page.locator(".node:focus")).to_contain_text("Clicked at 300, 200")
        press(page, "Enter")
        at(page, 3)
        press(page, "ArrowLeft")
        expect(rows).to_have_count(shown)
        page.get_by_role("link", name="All steps").click()
        expect(rows).to_have_count(25)


def test_it_grows_while_the_run_goes_on(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    running = traces["running"]
    with opened(browser, site, f"/traces/{running}/") as page:
        expect(page.locator("[data-conn]")).to_have_attribute("data-state", "connected")
        at(page, 4, 4)
        seed(site, "more", running)
        at(page, 5, 5)
        expect(page.locator("[data-body]")).to_contain_text("Clicked at 640, 400")
        expect(page.locator(".node[aria-selected=true]")).to_contain_text("Clicked at 640, 400")
        press(page, "ArrowLeft")
        jump = page.get_by_role("button", name="Jump to live")
        expect(jump).to_be_visible()
        seed(site, "more", running)
        at(page, 4, 6)
        press(page, "L")
        at(page, 6, 6)
        expect(jump).to_be_hidden()
        seed(site, "end", running, "succeeded")
        expect(page.locator("[data-totals]")).to_contain_text("Succeeded")


def test_it_keeps_notes_in_place(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{traces['pivot']}/?tab=notes") as page:
        page.get_by_label("Note about this step").fill("Here it goes wrong.")
        page.get_by_role("button", name="Add note").click()
        expect(page.locator(".remarks")).to_contain_text("Here it goes wrong.")
        at(page, 12)
        page.get_by_role("button", name="Delete this note").click()
        expect(page.locator("[data-body]")).to_contain_text("Nobody has written anything")
        press(page, "1")
        page.locator(".node", has_text="before the edit").click(button="right")
        page.get_by_role("menuitem", name="Label or note").click()
        expect(page.get_by_label("Note about this step")).to_be_focused()
        at(page, 9)


def test_it_works_without_javascript(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    with opened(browser, site, f"/traces/{traces['pivot']}/", js=False) as page:
        expect(page.locator("[data-before]")).to_be_visible()
        expect(page.locator(".layer.checks text")).to_have_text("✗ total_row failed 0.61")
        page.get_by_role("link", name="Previous step").click()
        expect(page.locator("[data-at]")).to_contain_text("11 / 12")
        page.get_by_role("link", name="After", exact=False).first.click()
        expect(page.locator("[data-after]")).to_be_visible()
        page.get_by_role("link", name="Reasoning").click()
        expect(page.locator("[data-body]")).to_contain_text("This is the way to go on.")
        page.get_by_role("treeitem", name="9 steps").click()
        page.get_by_role("treeitem", name="Clicked at 500, 300").click()
        expect(page.locator("[data-at]")).to_contain_text("11 / 20")
        page.get_by_label("Search this trace").fill("type:drag")
        page.get_by_label("Search this trace").press("Enter")
        expect(page.locator(".hits")).to_contain_text("1 hit for “type:drag”")


def test_it_shows_hostile_text_as_text(browser: Browser, site: Site, traces: dict[str, str]) -> None:
    dialogs: list[str] = []
    with opened(browser, site, f"/traces/{traces['hostile']}/") as page:
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        press(page, "Home")
        for _ in range(5):
            for tab in "123456":
                press(page, tab)
                expect(page.locator(".tabs [aria-current]")).to_contain_text(tab)
            press(page, "j")
        assert page.locator("img[src=x]").count() == 0
        assert page.evaluate("broken") == []
    assert dialogs == []


@needs_axe
@pytest.mark.parametrize("path", PAGES)
def test_it_is_accessible_and_fits(browser: Browser, site: Site, traces: dict[str, str], path: str) -> None:
    with opened(browser, site, path.format(**traces), fresh=False) as page:
        expect(page.locator(".tile a[aria-current]")).to_be_visible()
        check(page)


@needs_axe
@pytest.mark.parametrize(("who", "text"), [("ann", "Pivot the sales sheet"), ("newcomer", "Every run leaves a trace")])
def test_it_lists_traces(browser: Browser, site: Site, traces: dict[str, str], who: str, text: str) -> None:
    with opened(browser, site, LIST, who=who) as page:
        expect(page.locator("main")).to_contain_text(text)
        check(page)
