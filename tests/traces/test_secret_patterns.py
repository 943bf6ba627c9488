import time

import pytest

from traces.hiding import KEYS, MAILS, WORDS, Hider

KEYLIKE = [
    "sk-ant-api03-abcdefghijklmnopqrst",
    "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    "xoxb-123456789012-abcdefghijkl",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    "gh_share_abcdefghijklmnopqrstuvwxyz012345",
    "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----",
]
NAMED = [
    "password=hunter22",
    "DB_PASSWORD: hunter22",
    '"api_key": "xyzzyx1"',
    "client_secret = abcdefg",
    "token=abcdef",
]
ORDINARY = [
    "The password field is empty.",
    "password: {{password}}",
    "secret: [hidden]",
    "Say hello@ the office, at 12:30.",
    "skeleton-key, eyJ, AKIA, ghp_",
    "Step 3: token by token",
]


@pytest.mark.parametrize("key", KEYLIKE)
def test_it_hides_what_looks_like_a_key(key: str) -> None:
    hider = Hider([])
    assert hider.text(f"It is {key}, see?") == "It is [hidden], see?"
    assert hider.counts == {WORDS: 0, KEYS: 1}


@pytest.mark.parametrize("line", NAMED)
def test_it_hides_the_value_after_a_telling_name(line: str) -> None:
    clean = Hider([]).text(f"{line} and more")
    assert clean.endswith(" and more")
    assert "[hidden]" in clean
    assert line.split("=")[0].split(":")[0] in clean


@pytest.mark.parametrize("line", ORDINARY)
def test_it_leaves_ordinary_text_alone(line: str) -> None:
    assert Hider([]).text(line) == line


def test_it_hides_addresses_and_counts_them() -> None:
    hider = Hider([])
    assert hider.text("Ann <ann.b+c@mail.example.org>, bob@x.io") == "Ann <[hidden]>, [hidden]"
    assert hider.counts[MAILS] == 2


def test_it_hides_words_in_any_case_and_short_ones_only_whole() -> None:
    hider = Hider(["Ann", "Blue Heron"], patterns=False)
    assert hider.text("ANN and BLUE HERON, annual, x@y.example") == "[hidden] and [hidden], annual, x@y.example"
    assert hider.counts[WORDS] == 2


def test_it_finds_nothing_new_in_what_it_has_cleaned() -> None:
    text = f"{' '.join(KEYLIKE)} {'; '.join(NAMED)} ann@example.org"
    hider = Hider(["Ann"])
    once = hider.text(text)
    assert not hider.knows(once)
    assert hider.text(once) == once


@pytest.mark.parametrize("piece", ["a-", "password", "sk-", "://", "@", "eyJ", "x.y@", "-----BEGIN PRIVATE KEY-----"])
def test_it_takes_no_time_over_hostile_text(piece: str) -> None:
    began = time.process_time()
    Hider(["Ann"]).text(piece * (100_000 // len(piece)))
    assert time.process_time() - began < 2
