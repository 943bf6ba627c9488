import re
from pathlib import Path

import pytest
from django.test import Client

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["/healthz", "/login/", "/nothing/here/"])
def test_it_forbids_foreign_and_inline_code(client: Client, db: None, page: str) -> None:
    policy = client.get(page).headers.get("Content-Security-Policy", "")
    assert "default-src 'self'; script-src 'self'; style-src 'self';" in policy
    assert "connect-src 'self' ws://testserver:" in policy
    for rest in ("object-src 'none'", "base-uri 'none'", "frame-ancestors 'self'", "form-action 'self'"):
        assert rest in policy
    assert "unsafe" not in policy


def test_it_answers_a_wrong_host_with_the_policy_too(client: Client, db: None) -> None:
    response = client.get("/login/", headers={"Host": "evil.test"})
    assert response.status_code == 400
    assert "default-src 'self'" in response.headers["Content-Security-Policy"]


def test_it_has_no_inline_code_in_any_template() -> None:
    """But for the page that is one file, whose policy names the hash of each part."""
    for template in set((ROOT / "templates").rglob("*.html")) - {ROOT / "templates/traces/file.html"}:
        text = template.read_text()
        assert not re.search(r"\son\w+=|\sstyle=|<style|javascript:|https?://", text), template
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", text)), template


def test_it_draws_the_last_resort_page_without_anything() -> None:
    from django.template.loader import get_template

    assert "GodHand made a mistake" in get_template("500.html").render()
