"""A task from the prompt to its deliverable, in a real Chromium, on a real installation, with the scripted model."""

import os
import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from itertools import product
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from agents.examples import EXAMPLES, SHIPPED

from .running import Up

PICTURES = os.environ.get("GODHAND_PICTURES")
PATIENCE = 90_000
MOST_TABS = 120
TITLE = "Make a workbook with a chart"
TYPED = """
[[check]]
name = "a person was here"
kind = "file_contains"
path = "typed.txt"
text = "by a person"
"""


@pytest.fixture
def page(running: Up, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, accept_downloads=True)
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(running.installation.login_link())
    page.wait_for_url(f"{running.installation.url}/")
    yield page
    context.close()


def keep(page: Page, name: str) -> None:
    if not PICTURES:
        return
    for width, theme in product((1440, 390), ("light", "dark")):
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("theme => { document.documentElement.dataset.theme = theme }", theme)
        page.screenshot(path=Path(PICTURES) / f"{name}-{width}-{theme}.png")
    page.set_viewport_size({"width": 1440, "height": 900})


def script() -> str:
    """A terminal, time for a person to come and type into it, and then what the example does."""
    wait = '[[step]]\ndo = [{{ bash = "echo {}; sleep 0.4" }}]\n\n[[step]]\nif_said = "typed it"\nthen = "typed"\n\n'
    first = '[[step]]\nsay = "A terminal first."\ndo = [{ bash = "(lxterminal >/dev/null 2>&1 &)" }]\n\n'
    typed = '[[step]]\nlabel = "typed"\ndo = [{ bash = "cat ~/typed.txt" }]\n\n'
    title, chart = (SHIPPED / "chart.toml").read_text().split("\n", 1)
    return f"{title}\n{first}{''.join(map(wait.format, range(90)))}{typed}{chart}"


def launch(page: Page) -> None:
    """By keyboard: the prompt, a file, a script, the checks."""
    page.keyboard.press("n")
    page.wait_for_url("**/tasks/new/")
    prompt = page.get_by_label("What should the agent do?")
    prompt.fill("Make a workbook with a chart of these sales, and open it.")
    page.set_input_files("[data-files]", SHIPPED / "sales.csv")
    expect(page.locator("[data-attached]")).to_contain_text("sales.csv")
    page.get_by_label("Script", exact=True).fill(script())
    by_keys(page, page.locator("summary", has=page.get_by_text("Checks", exact=True)))
    page.get_by_label("Checks, as TOML").fill(EXAMPLES["chart"].checks + TYPED)
    keep(page, "task-new")
    prompt.press("Control+Enter")
    page.wait_for_url(re.compile(r"/tasks/[0-9a-z]{12}/$"))


def take_over(page: Page) -> None:
    """And type into the desktop."""
    page.keyboard.press("t")
    expect(page.locator("[data-viewer]")).to_have_attribute("data-mode", "drive", timeout=PATIENCE)
    page.locator("[data-screen] canvas").click()
    page.keyboard.type("echo by a person > ~/typed.txt\n", delay=20)
    keep(page, "task-driving")


def hand_back(page: Page, note: str) -> None:
    page.keyboard.press("Control+Alt+Shift")
    page.get_by_label("What did you do?").fill(note)
    keep(page, "task-handback")
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-viewer]")).to_have_attribute("data-mode", "view")


def by_keys(page: Page, wanted: Locator, key: str = "Enter") -> None:
    """Goes there with Tab, and presses it."""
    expect(wanted).to_be_visible()
    for _ in range(MOST_TABS):
        if wanted.evaluate("element => element === document.activeElement"):
            break
        page.keyboard.press("Tab")
    expect(wanted).to_be_focused()
    page.keyboard.press(key)


def share(page: Page) -> str:
    """Make a copy, look it over, make the link."""
    by_keys(page, page.get_by_role("link", name="Share"))
    by_keys(page, page.get_by_label("E-mail addresses, and whatever looks like a key"), "Space")
    by_keys(page, page.get_by_role("button", name="Make the copy"))
    expect(page.get_by_role("heading", name="The copy is ready")).to_be_visible(timeout=2 * PATIENCE)
    by_keys(page, page.get_by_role("button", name="Make the link"))
    return page.locator("[data-link]").input_value()


def test_it_goes_from_a_prompt_to_a_link_that_leads_nowhere(running: Up, page: Page, browser: Browser) -> None:
    launch(page)
    expect(page.locator("[data-screen] canvas")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".doing")).to_contain_text("Agent is driving")
    expect(page.locator(".acts")).to_contain_text("Ran echo 3", timeout=PATIENCE)
    keep(page, "task-running")

    take_over(page)
    hand_back(page, "I typed it. Go on with the chart.")
    told = page.locator(".acts li", has_text="Their note: I typed it. Go on with the chart.")
    expect(told).to_be_visible(timeout=PATIENCE)
    shown = page.locator(f"[data-film] li[data-step='{told.get_attribute('data-step')}'] img")
    before = page.locator("[data-film] li", has_text="Ran echo 2").locator("img")
    assert shown.get_attribute("src") != before.get_attribute("src"), "the agent saw what it had seen before"
    expect(page.locator(".acts")).to_contain_text("Human control,")

    expect(page.locator(".bar-state")).to_contain_text("Succeeded", timeout=2 * PATIENCE)
    expect(page.get_by_role("heading", name="3 of 3 passed")).to_be_visible()
    expect(page.locator(".checked")).to_contain_text("open on the desktop")
    keep(page, "task-succeeded")

    with page.expect_download() as started:
        by_keys(page, page.locator(".outcome").get_by_role("link", name=re.compile("sales.xlsx")))
    workbook = Path(started.value.path()).read_bytes()
    assert "xl/charts/chart1.xml" in zipfile.ZipFile(BytesIO(workbook)).namelist()

    by_keys(page, page.get_by_role("link", name="Open the trace"))
    page.wait_for_url(re.compile(r"/traces/[0-9a-z]{12}/"))
    expect(page.locator("h1")).to_contain_text(TITLE)
    keep(page, "task-trace")

    link = share(page)
    stranger = browser.new_context().new_page()
    stranger.goto(link)
    expect(stranger.locator("h1")).to_contain_text(TITLE)
    assert stranger.goto(f"{running.installation.url}/traces/")
    expect(stranger).to_have_url(re.compile("/login/"))
    by_keys(page, page.get_by_role("link", name="All shared links"))
    by_keys(page, page.get_by_role("button", name=re.compile("Revoke the link")).first)
    expect(page.get_by_text("The link is revoked")).to_be_visible()
    stranger.goto(link)
    expect(stranger.get_by_role("heading", name="This link leads nowhere")).to_be_visible()
    stranger.context.close()


def test_it_pauses_hears_a_note_and_goes_on(running: Up, page: Page) -> None:
    page.goto(f"{running.installation.url}/tasks/new/?example=chart")
    page.get_by_text("More options").first.click()
    page.get_by_label("Latency").fill("2")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url(re.compile(r"/tasks/[0-9a-z]{12}/$"))
    expect(page.locator(".acts")).to_contain_text("Ran ls", timeout=PATIENCE)
    page.keyboard.press("p")
    expect(page.locator(".bar-state")).to_contain_text("Paused", timeout=PATIENCE)
    page.keyboard.press("m")
    page.get_by_label("Send a note to the agent").fill("Use the 2026 sheet only.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("not heard yet")).to_be_visible()
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".acts")).to_contain_text("Use the 2026 sheet only.", timeout=PATIENCE)
    expect(page.get_by_text("not heard yet")).to_be_hidden()
    page.get_by_role("link", name="Stop", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Stop it").click()
    expect(page.locator(".bar-state")).to_contain_text("Cancelled", timeout=PATIENCE)
