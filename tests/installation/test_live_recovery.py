"""Services killed under the eyes of somebody who watches: the page comes back by itself, and has every step once."""

import os
import re
import signal
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from godhand_web.cli.processes import wait_until

from .aftermath import listens, ready
from .running import Up

STEPS = 40
BACK_SECONDS = 5
"""Within which a page is back, in one of two tries: the other may meet a busy host."""
SCRIPT = "".join(f'[[step]]\nlatency = 0.5\ndo = [{{ bash = "echo step-{n}" }}]\n\n' for n in range(STEPS))
END = '[[step]]\ndo = [{ done = "All echoed." }]\n'
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


def launch(page: Page) -> None:
    page.keyboard.press("n")
    page.wait_for_url("**/tasks/new/")
    page.get_by_label("What should the agent do?").fill("Echo, and be watched.")
    page.get_by_label("Script", exact=True).fill(SCRIPT + END)
    page.keyboard.press("Control+Enter")
    page.wait_for_url(re.compile(r"/tasks/[0-9a-z]{12}/$"))
    expect(page.locator("[data-viewer]")).to_have_attribute("data-phase", "live", timeout=PATIENCE)


def echoed(page: Page) -> list[int]:
    """In the order of the list, the newest first."""
    said = page.locator(".acts a").evaluate_all("links => links.map((link) => link.textContent)")
    return [int(found[1]) for text in said if (found := re.search(r"Ran echo step-(\d+)", text))]


def serves(running: Up, service: str) -> bool:
    return listens("127.0.0.1", running.installation.gate_port) if service == "gate" else ready(running.installation)


def back_after_killing(running: Up, page: Page, service: str) -> float:
    """Seconds from when it serves again until the page is connected, which says so and keeps the last frame till then.

    How long a service takes to start is the host's affair.
    """
    dot, stage = page.locator("[data-conn]"), page.locator("[data-viewer]")
    os.kill(running.installation.services()[service][0], signal.SIGKILL)
    if service == "gate":
        expect(page.locator("[data-frozen].dim")).to_be_visible()
        expect(page.get_by_text("Showing the frame from")).to_be_visible()
    else:
        expect(dot).not_to_have_attribute("data-state", "connected")
        expect(page.locator("[data-screen] canvas")).to_be_visible()
    assert wait_until(lambda: serves(running, service), 60)
    began = time.monotonic()
    expect(dot).to_have_attribute("data-state", "connected", timeout=PATIENCE)
    expect(stage).to_have_attribute("data-phase", "live", timeout=PATIENCE)
    return time.monotonic() - began


def test_it_comes_back_by_itself_with_every_step_once(
    running: Up, page: Page, capsys: pytest.CaptureFixture[str]
) -> None:
    launch(page)
    expect(page.locator(".acts")).to_contain_text("echo step-2", timeout=PATIENCE)
    expect(page.locator("[data-conn]")).to_have_attribute("data-state", "connected")
    page.evaluate("window.same = true")
    took = {}
    for service in ("web", "gate", "redis"):
        took[service] = back_after_killing(running, page, service)
        if took[service] >= BACK_SECONDS:
            took[service] = back_after_killing(running, page, service)
        newest = max(echoed(page))
        expect(page.locator(".acts")).to_contain_text(f"echo step-{newest + 1}", timeout=PATIENCE)
    with capsys.disabled():
        print(f" back after {', '.join(f'{name}: {seconds:.1f} s' for name, seconds in took.items())}", end="")
    expect(page.locator(".bar-state")).to_contain_text("Succeeded", timeout=2 * PATIENCE)
    expect(page.locator(".acts")).to_contain_text("All echoed")
    assert echoed(page) == list(reversed(range(STEPS)))
    assert page.evaluate("window.same"), "the page was loaded anew"
    assert max(took.values()) < BACK_SECONDS, took
