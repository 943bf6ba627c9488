from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.coords import Frame
from agents.errors import BadCall
from agents.tools.computer import ACTIONS, action_of
from sandboxes.actions import Button, Click, Drag, Hold, Key, MouseDown, Move, Scroll, Type, Wait

FRAME = Frame((2560, 1600), (1280, 800))


@pytest.mark.parametrize(
    ("name", "given_", "action"),
    [
        ("left_click", {"coordinate": [10, 20]}, Click(21, 41)),
        ("left_click", {}, Click()),
        ("right_click", {"coordinate": [0, 0], "text": "ctrl"}, Click(1, 1, Button.RIGHT, holding="ctrl")),
        ("triple_click", {"coordinate": [1279, 799]}, Click(2559, 1599, count=3)),
        ("left_click_drag", {"start_coordinate": [0, 0], "coordinate": [1, 1]}, Drag(1, 1, 3, 3)),
        ("mouse_move", {"coordinate": [5, 5]}, Move(11, 11)),
        ("left_mouse_down", {}, MouseDown()),
        ("scroll", {"scroll_direction": "up", "scroll_amount": 2}, Scroll(down=-2)),
        ("scroll", {"scroll_direction": "right", "coordinate": [0, 0]}, Scroll(1, 1, right=3)),
        ("type", {"text": "é"}, Type("é")),
        ("key", {"text": "ctrl+s", "repeat": 2}, Key("ctrl+s", 2)),
        ("hold_key", {"text": "a", "duration": 1}, Hold("a", 1)),
        ("wait", {"duration": 0.5}, Wait(0.5)),
    ],
)
def test_it_turns_words_into_actions_in_pixels(name: str, given_: dict[str, object], action: object) -> None:
    assert action_of(name, given_, FRAME) == action


@pytest.mark.parametrize(
    ("name", "given_", "field"),
    [
        ("fly", {}, "no action"),
        ("left_click", {"coordinate": [1]}, "coordinate"),
        ("left_click", {"coordinate": [1, 1], "button": "left"}, "button"),
        ("mouse_move", {}, "coordinate"),
        ("type", {"text": 7}, "text"),
        ("key", {"text": "ctrl+nonsense"}, "chord"),
        ("key", {"text": "a", "repeat": 101}, "repeat"),
        ("wait", {"duration": 1e9}, "seconds"),
        ("wait", {"duration": float("nan")}, "duration"),
        ("scroll", {"scroll_direction": "away"}, "scroll_direction"),
        ("scroll", {"scroll_direction": "up", "scroll_amount": -1}, "scroll_amount"),
    ],
)
def test_it_names_the_field_that_is_wrong(name: str, given_: dict[str, object], field: str) -> None:
    with pytest.raises(BadCall, match=field):
        action_of(name, given_, FRAME)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=10), inner, max_size=5),
    max_leaves=10,
)
FIELDS = st.sampled_from(
    ["coordinate", "start_coordinate", "text", "repeat", "duration", "scroll_amount", "scroll_direction"]
)


@given(name=st.sampled_from(list(ACTIONS)), values=st.dictionaries(FIELDS, JSON, max_size=4))
def test_it_refuses_nonsense_and_never_breaks(name: str, values: dict[str, object]) -> None:
    with suppress(BadCall):
        action_of(name, values, FRAME)
