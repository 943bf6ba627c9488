"""The pages of accounts, and a passkey, in a real Chromium with an authenticator of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from allauth.mfa.totp.internal import auth as totp
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
LINK = "/login/link/{link}/"
PAGES = {
    "settings": "/settings/",
    "security": "/settings/security/",
    "password": "/settings/security/password/new/",
    "app": "/settings/security/app/",
    "new codes": "/settings/security/codes/new/",
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


@needs_axe
def test_its_link_to_log_in_is_accessible(browser: Browser, site: Site) -> None:
    """The page goes on by itself; here the server answers that with nothing, so that it stays."""
    with opened(browser, site, "/login/", who="") as page:
        stays = lambda route: route.fulfill(status=204) if route.request.method == "POST" else route.continue_()  # noqa: E731
        page.route("**/login/link/**", stays)
        page.goto(site.url + LINK.format(**site.facts), wait_until="commit")
        expect(page.get_by_role("heading", name="Welcome")).to_be_visible()
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
        look_at_removing(page, site)
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


def look_at_removing(page: Page, site: Site) -> None:
    """The passkey, the codes, and an app that is added for it."""
    page.get_by_role("link", name="Remove").first.click()
    expect(page.get_by_role("heading", name="Remove a passkey")).to_be_visible()
    check(page)
    page.goto(f"{site.url}/settings/security/codes/new/")
    check(page)
    page.goto(f"{site.url}/settings/security/app/")
    secret = page.locator(".totp-key").inner_text().replace(" ", "")
    page.get_by_label("Six digits").fill(code_of(secret))
    page.get_by_role("button", name="Turn it on").press("Enter")
    expect(page.get_by_role("button", name="Turn it on")).to_have_count(0)
    page.goto(f"{site.url}/settings/security/app/remove/")
    check(page)
    page.get_by_role("button", name="Remove it").press("Enter")
    page.wait_for_url(f"{site.url}/settings/security/")


def code_of(secret: str) -> str:
    """As an app would show it now."""
    counter = next(iter(totp.yield_hotp_counters_from_time()))
    return str(totp.format_hotp_value(totp.hotp_value(secret, counter)))


def log_out(page: Page) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    page.get_by_role("button", name="Log out", exact=True).first.click()
    expect(page.get_by_role("heading", name="Log in")).to_be_visible()


def test_it_says_so_when_a_passkey_does_not_work(browser: Browser, site: Site, accounts: dict[str, Any]) -> None:
    with with_authenticator(browser, site, "/login/", "") as page:
        page.get_by_role("button", name="Log in with a passkey").click()
        expect(page.get_by_role("alert").filter(has_text="That did not work")).to_be_visible()
