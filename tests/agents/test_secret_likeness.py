import random
import string

import pytest

from agents.likeness import Likeness

SECRET = "Tr0ub4dor&3-Xylo"

READINGS = [
    "Tr0ub4dor&3-Xylo",
    "TrOub4dor&3-XyIo",
    "tr0ub4d0r & 3 -xy1o",
    "Password: Tr0ub4dor&3Xylo.",
    "Troub4clor&3-Xyl0",
    "curl -u me:Tr0ub4dor83-Xylo https://x",
]


@pytest.mark.parametrize("reading", READINGS)
def test_it_finds_a_secret_that_was_misread(reading: str) -> None:
    ((start, end),) = Likeness(SECRET).spans_in(reading)
    assert reading[start].lower() == "t"
    assert reading[start:end].rstrip(".")[-1] in "o0"


@pytest.mark.parametrize("part", ["…[Tr0ub4dor&", "or&3-Xylo and more", "Tr0ub4dor&3"])
def test_it_finds_a_good_part_of_it(part: str) -> None:
    assert Likeness(SECRET).spans_in(part)


def test_it_finds_it_each_time() -> None:
    assert len(Likeness("hunter2hunter2").spans_in("hunter2hunter2, and again: HUNTER2HUNTER2")) == 2


def test_it_takes_no_ordinary_text_for_it() -> None:
    text = "Applications Places File Edit View Terminal Help: the quick brown fox jumps over 1,024 lazy dogs at 12:30."
    for secret in (SECRET, "hunter2hunter2", "s3cr3t", "correct horse battery staple"):
        assert Likeness(secret).spans_in(text) == []


def test_it_takes_no_random_word_for_it() -> None:
    chance = random.Random(5)
    words = ["".join(chance.choices(string.ascii_lowercase, k=12)) for _ in range(2000)]
    assert Likeness(SECRET).spans_in(" ".join(words)) == []


def test_it_has_nothing_to_look_for_in_signs_that_readings_lose() -> None:
    assert Likeness("......").spans_in("…… ......") == []
