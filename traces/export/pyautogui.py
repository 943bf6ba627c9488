"""What was done, as the calls of pyautogui that benchmarks write down."""

from collections.abc import Callable, Mapping
from typing import Any

BUTTONS = {2: "middle", 3: "right"}
KEYS = {"Return": "enter", "Escape": "esc", "Page_Up": "pageup", "Page_Down": "pagedown", "super": "win"}
MOST_REPEATS = 100

Act = Mapping[str, Any]


def code_of(act: Act) -> str:
    """Empty for what pyautogui has no word for."""
    write = CODE.get(act.get("action"))
    return write(act) if write else ""


def _place(act: Act, x: str = "x", y: str = "y") -> str:
    return f"{act[x]}, {act[y]}" if act.get(x) is not None else ""


def _call(name: str, *arguments: str) -> str:
    return f"pyautogui.{name}({', '.join(filter(None, arguments))})"


def _button(act: Act) -> str:
    button = BUTTONS.get(act.get("button", 1))
    return f"button={button!r}" if button else ""


def _click(act: Act) -> str:
    count = act.get("count") or 1
    clicks = f"clicks={count}" if count > 1 else ""
    return _held(act, _call("click", _place(act), clicks, _button(act)))


def _drag(act: Act) -> str:
    points = [f"{x}, {y}" for x, y in act.get("via") or ()]
    moves = [_call("moveTo", point) for point in (_place(act), *points, _place(act, "to_x", "to_y")) if point]
    start, *rest = moves if act.get("x") is not None else ["", *moves]
    down, up = _call("mouseDown", _button(act)), _call("mouseUp", _button(act))
    return _held(act, "; ".join(filter(None, (start, down, *rest, up))))


def _scroll(act: Act) -> str:
    calls = []
    if act.get("down"):
        calls.append(_call("scroll", str(-act["down"]), _place(act)))
    if act.get("right"):
        calls.append(_call("hscroll", str(act["right"]), _place(act)))
    return _held(act, "; ".join(calls))


def _held(act: Act, code: str) -> str:
    keys = _keys(act.get("holding") or "")
    down = [_call("keyDown", repr(key)) for key in keys]
    up = [_call("keyUp", repr(key)) for key in reversed(keys)]
    return "; ".join(filter(None, (*down, code, *up)))


def _key(act: Act) -> str:
    keys = ", ".join(map(repr, _keys(act.get("chord") or "")))
    return "; ".join([_call("hotkey", keys)] * min(MOST_REPEATS, max(1, act.get("repeat") or 1)))


def _hold(act: Act) -> str:
    return _held({"holding": act.get("chord")}, f"time.sleep({act.get('seconds', 0):g})")


def _keys(chord: str) -> list[str]:
    return [KEYS.get(key, key.lower()) for key in chord.split("+") if key]


CODE: Mapping[Any, Callable[[Act], str]] = {
    "Click": _click,
    "Move": lambda act: _call("moveTo", _place(act)),
    "MouseDown": lambda act: _call("mouseDown", _place(act), _button(act)),
    "MouseUp": lambda act: _call("mouseUp", _place(act), _button(act)),
    "Drag": _drag,
    "Scroll": _scroll,
    "Type": lambda act: _call("write", repr(act.get("text", ""))),
    "Key": _key,
    "Hold": _hold,
    "Wait": lambda act: f"time.sleep({act.get('seconds', 0):g})",
}
