"""A newcomer's first quarter of an hour, in a real Chromium, with a real machine."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from godhand_web.cli.processes import wait_until
from sandboxes import network

from .running import Installation, Up

PICTURES = os.environ.get("GODHAND_PICTURES")
PATIENCE = 60_000


@pytest.fixture
def page(running: Up, browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(running.installation.login_link())
    page.wait_for_url(f"{running.installation.url}/")
    yield page
    context.close()


def keep(page: Page, name: str) -> None:
    if PICTURES:
        page.screenshot(path=Path(PICTURES) / f"{name}.png")


def create(page: Page, name: str) -> str:
    page.goto(re.sub(r"(//[^/]+).*", r"\1/machines/new/", page.url))
    page.get_by_label("Name").fill(name)
    page.get_by_role("button", name="Create machine").click()
    page.wait_for_url(re.compile(r"/machines/[0-9a-z]{12}/$"))
    expect(page.locator("[data-screen] canvas")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("[data-who-chip]")).to_have_text("You are watching")
    return page.url.rstrip("/").rpartition("/")[2]


def in_machine(installation: Installation, machine_id: str, *argv: str) -> str:
    return installation.call("shell", machine_id, *argv).stdout


def test_it_lets_a_newcomer_watch_drive_and_destroy_a_machine(running: Up, page: Page) -> None:
    installation = running.installation
    machine_id = create(page, "first light")
    keep(page, "watching")

    page.get_by_role("button", name="Take control").click()
    expect(page.locator("[data-who-chip]")).to_have_text("You are driving")
    manager = ("env", "DISPLAY=:1", "wmctrl", "-m")
    assert wait_until(lambda: "Openbox" in in_machine(installation, machine_id, *manager), 60)
    page.keyboard.press("Control+Alt+t")
    windows = ("env", "DISPLAY=:1", "wmctrl", "-lx")
    assert wait_until(lambda: "lxterminal" in in_machine(installation, machine_id, *windows), 60)
    page.locator("[data-screen] canvas").click()
    page.keyboard.type("echo typed through noVNC > typed.txt\n", delay=20)
    typed = ("cat", "/home/agent/typed.txt")
    assert wait_until(lambda: in_machine(installation, machine_id, *typed) == "typed through noVNC\n", 30)
    keep(page, "driving")

    page.keyboard.press("Control+Alt+Shift")
    expect(page.locator("[data-who-chip]")).to_have_text("You are watching")
    page.get_by_role("button", name="Screenshot").click()
    expect(page.get_by_role("img", name=re.compile("Saved by owner"))).to_be_visible(timeout=PATIENCE)
    keep(page, "screenshot")

    page.get_by_role("link", name="Destroy").click()
    page.get_by_role("dialog").get_by_role("button", name="Destroy").click()
    expect(page.get_by_text("Nothing of it is left on the host")).to_be_visible(timeout=PATIENCE)
    assert machine_id not in set(network.owned_ids(installation.host))
    keep(page, "destroyed")


def test_it_keeps_the_picture_and_comes_back_when_the_gate_is_killed(running: Up, page: Page) -> None:
    machine_id = create(page, "survivor")
    os.kill(running.installation.services()["gate"][0], 9)
    expect(page.get_by_text("Showing the frame from")).to_be_visible()
    expect(page.locator("[data-who-chip]")).to_have_text("You are watching", timeout=PATIENCE)
    assert machine_id in set(network.owned_ids(running.installation.host))
    page.get_by_role("link", name="Destroy").click()
    page.get_by_role("dialog").get_by_role("button", name="Destroy").click()
    expect(page.get_by_text("Nothing of it is left on the host")).to_be_visible(timeout=PATIENCE)
