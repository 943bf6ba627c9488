"""Actions come from models, so anything at all may be in them."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandboxes.actions import (
    MAX_RARE,
    MAX_TEXT,
    BadAction,
    Button,
    Click,
    Drag,
    Hold,
    Key,
    MouseDown,
    MouseUp,
    Move,
    Scroll,
    Type,
    Wait,
)

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.sampled_from(Button),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner, max_size=2),
    max_leaves=4,
)
FIELDS: list[tuple[type, tuple[str, ...]]] = [
    (kind, tuple(kind.__dataclass_fields__))
    for kind in (Click, Drag, Hold, Key, MouseDown, MouseUp, Move, Scroll, Type, Wait)
]


@given(st.data())
def test_it_takes_anything_or_refuses_it(data: st.DataObject) -> None:
    kind, fields = data.draw(st.sampled_from(FIELDS))
    values = {field: data.draw(JUNK) for field in fields}
    with suppress(BadAction):
        kind(**values)


@pytest.mark.parametrize(
    ("kind", "values", "field"),
    [
        (Move, {"x": -1, "y": 5}, "x"),
        (Move, {"x": 1, "y": 1e3}, "y"),
        (Move, {"x": True, "y": 1}, "x"),
        (Move, {"x": 10**5000, "y": 1}, "x"),
        (Click, {"x": 1}, "y"),
        (Click, {"x": 1, "y": 1, "count": 0}, "count"),
        (Click, {"x": 1, "y": 1, "count": 4}, "count"),
        (Click, {"button": 1}, "button"),
        (Click, {"holding": "ctrl+nothing"}, "holding"),
        (Drag, {"x": 1, "y": 1, "to_x": 1, "to_y": None}, "to_y"),
        (Drag, {"x": 1, "y": 1, "to_x": 1, "to_y": 2, "via": ((1, 2), (3, -4))}, "via"),
        (Drag, {"x": 1, "y": 1, "to_x": 1, "to_y": 2, "via": ((1, 2),) * 501}, "via"),
        (Scroll, {"x": 1, "y": 1, "down": 10**9}, "down"),
        (Type, {"text": "\0"}, "text"),
        (Type, {"text": "a" * (MAX_TEXT + 1)}, "text"),
        (Type, {"text": "你" * (MAX_RARE + 1)}, "text"),
        (Key, {"chord": "Bogus"}, "chord"),
        (Key, {"chord": "ctrl+" * 10**6}, "chord"),
        (Key, {"chord": "a", "repeat": 101}, "repeat"),
        (Hold, {"chord": "a", "seconds": float("nan")}, "seconds"),
        (Wait, {"seconds": 301}, "seconds"),
        (Wait, {"seconds": "1"}, "seconds"),
    ],
)
def test_it_refuses_by_field(kind: type, values: dict[str, Any], field: str) -> None:
    with pytest.raises(BadAction) as refused:
        kind(**values)
    assert refused.value.field == field
    assert str(refused.value).startswith(f"{field}: ")
    assert len(str(refused.value)) < 200
