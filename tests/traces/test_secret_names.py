"""Secrets that have a name leave it in their place."""

import pytest

from traces.redact import HIDDEN, Redactor, placeholder

KEY = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END KEY-----"


def test_it_writes_the_name_where_the_secret_stood() -> None:
    redactor = Redactor([], {"password": "hunter2hunter2"})
    assert redactor.text("login hunter2hunter2") == "login {{password}}"
    assert redactor.hidden == 1
    assert placeholder("password") == "{{password}}"


def test_it_hides_other_forms_without_the_name_for_they_cannot_be_typed_back() -> None:
    redactor = Redactor([], {"password": "pass word/1"})
    assert redactor.text("?p=pass+word%2F1 and pass word/1") == f"?p={HIDDEN} and {{{{password}}}}"


def test_it_knows_a_long_key_by_each_of_its_lines() -> None:
    redactor = Redactor([], {"key": KEY})
    assert redactor.text(f"     2  {KEY.splitlines()[1]}") == f"     2  {HIDDEN}"
    assert redactor.text("-----BEGIN KEY-----") == "-----BEGIN KEY-----"
    assert redactor.text(KEY) == "{{key}}"


@pytest.mark.parametrize("text", ["{{password}}", "{{ password }}", "nothing"])
def test_it_finds_nothing_in_a_name(text: str) -> None:
    redactor = Redactor([], {"password": "hunter2hunter2"})
    assert redactor.text(text) == text
    assert redactor.hidden == 0
