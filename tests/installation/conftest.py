from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.chromium import CHROMIUM, FLAGS
from tests.home import TEST_HOME

from .running import Installation, Up


@pytest.fixture(scope="package")
def running() -> Iterator[Up]:
    """One installation that tests share: it must serve as well after a test as before."""
    up = Installation(TEST_HOME / "shared").up()
    try:
        up.wait_for_link()
        yield up
    finally:
        up.stop()


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    """An empty home of one's own, cleared by the product's own `down`."""
    installation = Installation(TEST_HOME / tmp_path.name)
    yield installation
    for up in installation.started:
        up.stop()
    if installation.started:
        installation.call("down")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
