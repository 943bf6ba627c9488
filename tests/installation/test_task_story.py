"""A task from the prompt to its deliverable, in a real Chromium, on a real installation, with the scripted model."""

import os
import re
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from agents.examples import EXAMPLES, SHIPPED

from .running import Up

PICTURES = os.environ.get("GODHAND_PICTURES")
PATIENCE = 90_000


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
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png")


def launch(page: Page) -> None:
    """By keyboard: the prompt, a file, a script, the checks."""
    page.keyboard.press("n")
    page.wait_for_url("**/tasks/new/")
    prompt = page.get_by_label("What should the agent do?")
    prompt.fill("Make a workbook with a chart of these sales, and open it.")
    page.set_input_files("[data-files]", SHIPPED / "sales.csv")
    expect(page.locator("[data-attached]")).to_contain_text("sales.csv")
    page.get_by_text("Checks", exact=True).click()
    page.get_by_label("Checks, as TOML").fill(EXAMPLES["chart"].checks)
    keep(page, "task-new")
    prompt.press("Control+Enter")
    page.wait_for_url(re.compile(r"/tasks/[0-9a-z]{12}/$"))


def test_it_goes_from_a_prompt_to_a_deliverable(running: Up, page: Page) -> None:
    launch(page)
    expect(page.locator("[data-screen] canvas")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".doing")).to_contain_text("Agent is driving")
    expect(page.locator(".acts")).to_contain_text("Ran ls -l ~/sales.csv", timeout=PATIENCE)
    keep(page, "task-running")

    steps = page.locator("[data-film] li")
    expect(steps.nth(3)).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".bar-state")).to_contain_text("Succeeded", timeout=2 * PATIENCE)
    expect(page.get_by_role("heading", name="2 of 2 passed")).to_be_visible()
    expect(page.locator(".checked")).to_contain_text("open on the desktop")
    keep(page, "task-succeeded")

    with page.expect_download() as started:
        page.locator(".outcome").get_by_role("link", name=re.compile("sales.xlsx")).click()
    workbook = Path(started.value.path()).read_bytes()
    assert "xl/charts/chart1.xml" in zipfile.ZipFile(BytesIO(workbook)).namelist()

    page.get_by_role("link", name="Open the trace").click()
    page.wait_for_url(re.compile(r"/traces/[0-9a-z]{12}/"))
    expect(page.locator("h1")).to_contain_text("Make a workbook with a chart")
    keep(page, "task-trace")


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
