"""The pages of accounts, and a passkey, in a real Chromium with an authenticator of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from .site import ROOT, Site
from .test_pages_in_browser import check, needs_axe, opened

PASSWORD = "correct horse battery"
AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
PAGES = {
    "security": "/settings/security/",
    "password": "/settings/security/password/",
    "app": "/settings/security/app/",
    "passkey": "/settings/security/passkeys/new/",
    "people": "/settings/people/",
    "person": "/settings/people/{person}/",
    "teams": "/settings/teams/",
    "team": "/settings/teams/{team}/",
    "audit": "/settings/audit/",
}


@pytest.fixture(scope="module")
def accounts(site: Site) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.web.seed_accounts", PASSWORD]
    made = subprocess.run(command, cwd=ROOT, env=site.env, check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(json.loads(made.splitlines()[-1]))


@contextmanager
def with_authenticator(browser: Browser, site: Site, path: str, who: str) -> Iterator[Page]:
    with opened(browser, site, path, who) as page:
        chromium = page.context.new_cdp_session(page)
        chromium.send("WebAuthn.enable")
        chromium.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
        yield page


@needs_axe
@pytest.mark.parametrize("name", PAGES)
def test_it_is_accessible_and_fits(browser: Browser, site: Site, accounts: dict[str, Any], name: str) -> None:
    with opened(browser, site, PAGES[name].format(**accounts), who="boss") as page:
        check(page)


def test_it_logs_in_with_a_passkey_and_uses_it_after_a_password(
    browser: Browser, site: Site, accounts: dict[str, Any]
) -> None:
    with with_authenticator(browser, site, "/login/?next=/settings/security/", "") as page:
        by_password(page)
        prove(page, site)
        page.get_by_label("Name").fill("Test key")
        page.get_by_role("button", name="Make it").press("Enter")
        expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
        check(page)
        page.get_by_role("link", name="I have kept them").click()
        expect(page.get_by_text("Test key", exact=True)).to_be_visible()
        log_out(page)
        page.goto(f"{site.url}/login/?next=/images/")
        page.get_by_role("button", name="Log in with a passkey").click()
        page.wait_for_url(f"{site.url}/images/")
        log_out(page)
        by_password(page)
        expect(page.get_by_role("heading", name="One more step")).to_be_visible()
        check(page)
        page.get_by_role("button", name="Use your passkey").click()
        page.wait_for_url(f"{site.url}/")
        expect(page.locator(".rail")).to_be_attached()


def by_password(page: Page) -> None:
    page.get_by_label("Name").fill("newcomer")
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Log in", exact=True).press("Enter")


def prove(page: Page, site: Site) -> None:
    """As one is asked to later on."""
    page.goto(f"{site.url}/settings/security/confirm/?next=/settings/security/passkeys/new/")
    expect(page.get_by_role("heading", name="Is it you?")).to_be_visible()
    check(page)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Go on").press("Enter")
    expect(page.get_by_role("heading", name="Add a passkey")).to_be_visible()


def log_out(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("button", name="Log out", exact=True).first.click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_it_says_so_when_a_passkey_does_not_work(browser: Browser, site: Site, accounts: dict[str, Any]) -> None:
    with with_authenticator(browser, site, "/login/", "") as page:
        page.get_by_role("button", name="Log in with a passkey").click()
        expect(page.get_by_role("alert").filter(has_text="That did not work")).to_be_visible()
