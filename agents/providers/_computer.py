"""The desktop's vocabulary, for services that do not bring the computer toolset with them."""

import json
from collections.abc import Mapping
from typing import Any

from ..turns import Call

TOOLSET = "computer"
MEMBERS = (
    "screenshot", "zoom", "left_click", "right_click", "middle_click", "double_click", "triple_click",
    "left_click_drag", "mouse_move", "left_mouse_down", "left_mouse_up", "cursor_position", "scroll", "type", "key",
    "hold_key", "wait",
)  # fmt: skip

REGION = {
    "type": "array", "items": {"type": "integer"}, "minItems": 4, "maxItems": 4,
    "description": "zoom: left, top, right and bottom of the part to see.",
}  # fmt: skip


def single_tool_schema(points: str) -> dict[str, Any]:
    """One tool whose `action` says what to do; `points` says how coordinates count."""
    point = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}
    return {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": list(MEMBERS)},
            "coordinate": {**point, "description": f"Where: [x, y], {points}. Clicks and scroll may leave it out."},
            "start_coordinate": {**point, "description": "left_click_drag: where the drag begins."},
            "region": REGION,
            "text": {
                "type": "string",
                "description": "type: the text. key, hold_key: keys such as ctrl+s or Return. "
                "Clicks, drag and scroll: keys held meanwhile.",
            },
            "repeat": {"type": "integer", "minimum": 1, "maximum": 100, "description": "key: how many times."},
            "scroll_direction": {"type": "string", "enum": ["up", "down", "left", "right"]},
            "scroll_amount": {"type": "integer", "description": "scroll: clicks of the wheel."},
            "duration": {"type": "number", "maximum": 300, "description": "wait, hold_key: seconds."},
        },
        "required": ["action"],
    }


def from_single(id: str, arguments: Mapping[str, Any]) -> Call:  # noqa: A002
    """Small models fill what they do not use with null."""
    rest = {name: value for name, value in arguments.items() if name != "action" and value is not None}
    return Call(id, str(arguments.get("action", "")), rest, TOOLSET)


def to_single(call: Call) -> dict[str, Any]:
    return {"action": call.name, **call.input}


def read_arguments(text: str) -> dict[str, Any]:
    """What is no JSON object goes on as it is, for the tool to refuse: the model is told, and the run goes on."""
    try:
        arguments = json.loads(text or "{}")
    except ValueError:
        arguments = None
    return arguments if isinstance(arguments, dict) else {"unreadable": text}
