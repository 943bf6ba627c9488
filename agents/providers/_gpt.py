"""OpenAI's words for what one does to a desktop, in ours."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..turns import Call
from ._computer import REGION, TOOLSET, read_arguments

CLICKS = {"left": "left_click", "right": "right_click", "wheel": "middle_click"}
SIDE_BUTTONS = {"back": "alt+Left", "forward": "alt+Right"}
PIXELS_A_NOTCH = 100
WAIT_SECONDS = 2

ZOOM = {
    "type": "function",
    "name": "zoom",
    "description": "See a part of the screen enlarged, from the screen's own pixels. Coordinates of actions stay those "
    "of the whole screenshot.",
    "parameters": {
        "type": "object",
        "properties": {"region": REGION},
        "required": ["region"],
        "additionalProperties": False,
    },
    "strict": False,
}

Step = tuple[str, dict[str, Any]]


def calls_of(item: Mapping[str, Any]) -> list[Call]:
    """An item of the output is no call, one call, or a batch of actions on the desktop."""
    match item["type"]:
        case "function_call":
            is_zoom = item["name"] == ZOOM["name"]
            arguments = read_arguments(item["arguments"])
            return [Call(item["call_id"], item["name"], arguments, TOOLSET if is_zoom else "")]
        case "computer_call":
            actions = item.get("actions") or [item.get("action") or {"type": "screenshot"}]
            steps = [step for action in actions for step in _steps(action)]
            return [
                Call(f"{item['call_id']}#{number}", name, given, TOOLSET) for number, (name, given) in enumerate(steps)
            ]
    return []


def _steps(action: Mapping[str, Any]) -> list[Step]:
    """Most actions are one of ours. One that is unknown keeps its name, for the desktop to refuse."""
    held = {"text": _chord(action["keys"])} if action.get("keys") else {}
    match action["type"]:
        case "click" if action["button"] in SIDE_BUTTONS:
            return [("key", {"text": SIDE_BUTTONS[action["button"]]})]
        case "click":
            return [(CLICKS.get(action["button"], "click"), {**_there(action), **held})]
        case "double_click":
            return [("double_click", {**_there(action), **held})]
        case "move":
            return [("mouse_move", _there(action))]
        case "drag":
            return _drag([[point["x"], point["y"]] for point in action["path"]], held)
        case "scroll":
            return _scroll(action, held)
        case "keypress":
            return [("key", {"text": _chord(action["keys"])})]
        case "type":
            return [("type", {"text": action["text"]})]
        case "wait":
            return [("wait", {"duration": WAIT_SECONDS})]
        case name:
            return [(name, {})]


def _there(action: Mapping[str, Any]) -> dict[str, Any]:
    return {"coordinate": [action["x"], action["y"]]}


def _chord(keys: Sequence[str]) -> str:
    return "+".join(key.lower() for key in keys)


def _drag(path: list[list[int]], held: dict[str, Any]) -> list[Step]:
    """A path of more than two points is followed point by point, unless keys must be held meanwhile."""
    if len(path) > 2 and not held:
        moves: list[Step] = [("mouse_move", {"coordinate": point}) for point in path]
        return [moves[0], ("left_mouse_down", {}), *moves[1:], ("left_mouse_up", {})]
    ends = {"start_coordinate": path[0], "coordinate": path[-1]} if path else {}
    return [("left_click_drag", {**ends, **held})]


def _scroll(action: Mapping[str, Any], held: dict[str, Any]) -> list[Step]:
    """OpenAI counts pixels."""
    steps: list[Step] = []
    for pixels, back, forth in ((action["scroll_y"], "up", "down"), (action["scroll_x"], "left", "right")):
        if pixels:
            amount = max(1, round(abs(pixels) / PIXELS_A_NOTCH))
            way = {"scroll_direction": forth if pixels > 0 else back, "scroll_amount": amount}
            steps.append(("scroll", {**_there(action), **way, **held}))
    return steps or [("mouse_move", _there(action))]
