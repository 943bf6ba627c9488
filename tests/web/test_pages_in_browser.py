"""Every page in a real Chromium, at desk and phone width, in both themes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, expect

from .site import ROOT, Site

AXE = ROOT / "node_modules/axe-core/axe.min.js"
WATCH_POLICY = "window.broken = []; addEventListener('securitypolicyviolation', e => broken.push(e.blockedURI));"
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
VIEWS = [(width, theme) for width in (1440, 390) for theme in ("light", "dark")]
STATES = ["queued", "booting", "ready", "destroying", "destroyed", "failed", "lost", "hostile"]
PAGES = {
    "dashboard": "/",
    "machines": "/machines/",
    "ended": "/machines/?tab=ended",
    "new": "/machines/new/",
    "images": "/images/",
    "settings": "/settings/",
    "details": "/machines/{ready}/?tab=details",
    "destroy": "/machines/{ready}/destroy/",
    "screenshot": "/machines/{ready}/screenshots/{screenshot}/",
    **{state: f"/machines/{{{state}}}/" for state in STATES},
}


def by_the_gate(message: ConsoleMessage) -> bool:
    """These tests have no gate, and the browser says so by itself."""
    return "/vnc/" in message.text


@contextmanager
def opened(browser: Browser, site: Site, path: str, **look: Any) -> Iterator[Page]:
    width, theme, who = look.get("width", 1440), look.get("theme", "light"), look.get("who", "ann")
    context = browser.new_context(viewport={"width": width, "height": 844}, java_script_enabled=look.get("js", True))
    if who:
        context.add_cookies(site.cookies(who, theme))  # type: ignore[arg-type]
    context.add_init_script(WATCH_POLICY)
    context.add_init_script(path=AXE)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console", lambda line: complaints.append(line.text) if line.type == "error" and not by_the_gate(line) else None
    )
    try:
        page.goto(site.url + path)
        yield page
        assert complaints == []
    finally:
        context.close()


def check(page: Page) -> None:
    found = page.evaluate("rules => axe.run(document, rules)", RULES)
    assert [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]] == []
    assert page.evaluate("broken") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth"), "scrolls sideways"
    assert page.locator("h1").count() == 1


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not there: run npm ci")
@pytest.mark.parametrize("name", PAGES)
def test_it_is_accessible_and_fits(browser: Browser, site: Site, name: str) -> None:
    path = PAGES[name].format(screenshot=site.facts["screenshot"], **site.facts["machines"])
    for width, theme in VIEWS:
        with opened(browser, site, path, width=width, theme=theme) as page:
            if name in {"dashboard", "machines", "ready"}:
                expect(page.locator("[data-conn]")).to_have_attribute("data-state", "connected")
            check(page)


@pytest.mark.parametrize("path", ["/", "/machines/"])
def test_it_teaches_a_newcomer(browser: Browser, site: Site, path: str) -> None:
    for width, theme in VIEWS:
        with opened(browser, site, path, width=width, theme=theme, who="newcomer") as page:
            expect(page.get_by_text("Give an agent its first computer")).to_be_visible()
            check(page)


@pytest.mark.parametrize("path", ["/login/", "/login/link/used/", "/nothing/"])
def test_it_greets_who_is_not_logged_in(browser: Browser, site: Site, path: str) -> None:
    for width, theme in VIEWS:
        context = browser.new_context(viewport={"width": width, "height": 844})
        context.add_cookies(site.cookies("ann", theme)[1:])  # type: ignore[arg-type]
        context.add_init_script(WATCH_POLICY)
        context.add_init_script(path=AXE)
        page = context.new_page()
        page.goto(site.url + path)
        check(page)
        context.close()


def test_it_shows_the_desktop_without_a_reload_once_it_is_there(browser: Browser, site: Site) -> None:
    machine_id = site.facts["machines"]["booting"]
    with opened(browser, site, f"/machines/{machine_id}/") as page:
        expect(page.locator("[data-conn]")).to_have_attribute("data-state", "connected")
        stage = page.locator("[data-viewer]").element_handle()
        expect(page.locator(".way .now")).to_contain_text("Booting")
        site.seed("move", machine_id, "ready")
        expect(page.get_by_role("button", name="Take control")).to_be_visible()
        assert page.evaluate("stage => stage.isConnected", stage), "the stage was exchanged"


def test_it_obeys_keys_but_not_while_somebody_types(browser: Browser, site: Site) -> None:
    with opened(browser, site, "/machines/") as page:
        page.keyboard.press("?")
        expect(page.get_by_role("dialog")).to_be_visible()
        page.keyboard.press("Escape")
        page.keyboard.press("g")
        page.keyboard.press("d")
        page.wait_for_url(f"{site.url}/")
        page.keyboard.press("n")
        page.wait_for_url("**/machines/new/")
        page.get_by_label("Name").press_sequentially("gdn?")
        expect(page.get_by_label("Name")).to_have_value("gdn?")
        assert page.url.endswith("/machines/new/")


def test_it_changes_and_keeps_the_theme(browser: Browser, site: Site) -> None:
    with opened(browser, site, "/images/") as page:
        with page.expect_response("**/theme/"):
            page.get_by_role("button", name="Dark").click()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.reload()
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_it_works_without_javascript(browser: Browser, site: Site) -> None:
    ready = site.facts["machines"]["ready"]
    with opened(browser, site, f"/machines/{ready}/", js=False) as page:
        expect(page.get_by_text("The live desktop needs JavaScript")).to_be_visible()
        page.get_by_role("link", name="Details").click()
        expect(page.get_by_text("1280 × 800 px")).to_be_visible()
        page.get_by_role("link", name="Destroy").click()
        page.get_by_role("link", name="Keep it").click()
        page.wait_for_url(f"**/machines/{ready}/")


def test_it_shows_a_hostile_name_as_text(browser: Browser, site: Site, tmp_path: Path) -> None:
    dialogs: list[str] = []
    with opened(browser, site, f"/machines/{site.facts['machines']['hostile']}/") as page:
        page.on("dialog", lambda dialog: dialogs.append(dialog.message))
        expect(page.locator("h1")).to_contain_text("<img src=x onerror=alert(1)>")
        page.goto(f"{site.url}/machines/")
        expect(page.locator("[data-conn]")).to_have_attribute("data-state", "connected")
        assert page.locator("img[src=x]").count() == 0
    assert dialogs == []
