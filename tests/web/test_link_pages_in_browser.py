"""The pages around a trace that no other file opens with axe: tabs, and lists in which there is nothing."""

from typing import Any

import pytest
from playwright.sync_api import Browser

from .site import Site
from .test_pages_in_browser import check, needs_axe, opened

OWN = [
    "/traces/{example}/?tab=reasoning&view=diff",
    "/traces/{example}/?tab=observation&view=before",
    "/traces/{empty}/",
]


@pytest.fixture(scope="module")
def traces(site: Site) -> dict[str, Any]:
    return dict(site.made("traces"))


@needs_axe
@pytest.mark.parametrize("path", OWN)
def test_it_is_accessible_and_fits(browser: Browser, site: Site, traces: dict[str, Any], path: str) -> None:
    with opened(browser, site, path.format(**traces), fresh=False) as page:
        check(page)


@needs_axe
@pytest.mark.parametrize("path", ["/shares/", "/settings/space/"])
def test_it_teaches_a_newcomer(browser: Browser, site: Site, path: str) -> None:
    with opened(browser, site, path, who="newcomer", fresh=False) as page:
        check(page)
