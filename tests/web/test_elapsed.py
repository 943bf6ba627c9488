from datetime import timedelta

import pytest

from godhand_web.templatetags.godhand import spoken


# tests/js/elapsed.test.js holds the browser to the same table.
@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "0 s"),
        (59, "59 s"),
        (60, "1 min 0 s"),
        (3599, "59 min 59 s"),
        (3600, "1 h 0 min"),
        (86399, "23 h 59 min"),
        (90000, "1 d 1 h"),
    ],
)
def test_it_says_how_long_with_two_units(seconds: int, words: str) -> None:
    assert spoken(timedelta(seconds=seconds)) == words
