"""What an event says to a person, in one plain line. It is text: whoever shows it escapes it."""

from collections.abc import Callable, Mapping
from typing import Any

from .events import Fate, Kind, Outcome, Recorded

LONGEST = 120
ROOM_FOR_FATE = 12
BUTTONS = {2: "Middle-clicked", 3: "Right-clicked", 8: "Clicked back", 9: "Clicked forward"}
TIMES = {2: "Double-clicked", 3: "Triple-clicked"}
UNDONE = (Fate.PLANNED, Fate.REFUSED)
FATES = {Fate.PLANNED: " (planned)", Fate.INTENT: " …", Fate.UNCERTAIN: " (uncertain)", Fate.REFUSED: " (refused)"}

BEFORE_HINT = "Go on from here this way: "

Values = Mapping[str, Any]


def sentence(event: Recorded) -> str:
    return _short(SENTENCES[event.kind](event))


def icon(event: Recorded) -> str:
    """The name of a Lucide icon."""
    if event.kind == Kind.ACTION:
        return ACTION_ICONS.get(_verb(event), "wrench")
    if event.kind == Kind.MESSAGE:
        return MESSAGE_ICONS.get(event.name, "message-square")
    return ICONS[event.kind]


def _short(text: str, longest: int = LONGEST) -> str:
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _action(event: Recorded) -> str:
    act = event.act or {}
    verb = act.get("action")
    said = ACTS[verb](act) if verb in ACTS and event.fate not in UNDONE else _called(event)
    return _short(said, LONGEST - ROOM_FOR_FATE) + FATES.get(event.fate, "")


def _called(event: Recorded) -> str:
    given = event.data.get("input")
    given = given if isinstance(given, dict) else {}
    call = (WISHES if event.fate in UNDONE else CALLS).get(event.name)
    return call(given) if call else event.name.replace("_", " ").capitalize()


def _verb(event: Recorded) -> str:
    return str((event.act or {}).get("action") or event.name)


def _at(act: Values, x: str = "x", y: str = "y") -> str:
    return f"{act[x]}, {act[y]}" if act.get(x) is not None else "the pointer"


def _click(act: Values) -> str:
    held = f" with {act['holding']}" if act.get("holding") else ""
    clicked = BUTTONS.get(act.get("button", 1)) or TIMES.get(act.get("count", 1)) or "Clicked"
    return f"{clicked} at {_at(act)}{held}"


def _scroll(act: Values) -> str:
    down, right = act.get("down", 0), act.get("right", 0)
    way = ("down" if down > 0 else "up") if down else ("right" if right > 0 else "left")
    return f"Scrolled {way} by {abs(down or right)} at {_at(act)}"


def _quoted(text: object) -> str:
    lines = str(text).replace("\n", "⏎")
    return f"“{lines}”"


def _key(act: Values) -> str:
    times = f" {act['repeat']} times" if act.get("repeat", 1) > 1 else ""
    return f"Pressed {act.get('chord', '')}{times}"


ACTS: Mapping[Any, Callable[[Values], str]] = {
    "Click": _click,
    "Move": lambda act: f"Moved to {_at(act)}",
    "MouseDown": lambda act: f"Held the button down at {_at(act)}",
    "MouseUp": lambda act: f"Let the button go at {_at(act)}",
    "Drag": lambda act: f"Dragged from {_at(act)} to {_at(act, 'to_x', 'to_y')}",
    "Scroll": _scroll,
    "Type": lambda act: f"Typed {_quoted(act.get('text', ''))}",
    "Key": _key,
    "Hold": lambda act: f"Held {act.get('chord', '')} for {act.get('seconds', 0):g} s",
    "Wait": lambda act: f"Waited {act.get('seconds', 0):g} s",
}
FILE_VERBS = {"view": "Read", "create": "Wrote", "edit": "Edited", "list": "Listed"}
CALLS: Mapping[str, Callable[[Values], str]] = {
    "bash": lambda given: f"Ran {given.get('command') or 'a new shell'}",
    "files": lambda given: f"{FILE_VERBS.get(str(given.get('verb')), 'Used')} {given.get('path', 'a file')}",
    "machine": lambda given: f"Machine: {given.get('verb', '')}",
    "check": lambda given: f"Checked {given.get('name') or 'the result'}",
    "request_human": lambda given: f"Asked for help: {given.get('question') or given.get('reason') or ''}",
    "deliver": lambda given: f"Delivered {given.get('path', 'a file')}",
    "done": lambda given: f"Says it is done: {given.get('claim') or given.get('summary') or ''}".rstrip(": "),
    "screenshot": lambda given: "Looked at the screen",
    "zoom": lambda given: "Looked closer",
    "cursor_position": lambda given: "Asked where the pointer is",
}
WISHES: Mapping[str, Callable[[Values], str]] = {
    "left_click": lambda given: "Click",
    "right_click": lambda given: "Right-click",
    "middle_click": lambda given: "Middle-click",
    "double_click": lambda given: "Double-click",
    "triple_click": lambda given: "Triple-click",
    "left_click_drag": lambda given: "Drag",
    "mouse_move": lambda given: "Move the pointer",
    "scroll": lambda given: f"Scroll {given.get('scroll_direction', '')}".rstrip(),
    "type": lambda given: f"Type {_quoted(given.get('text', ''))}",
    "key": lambda given: f"Press {given.get('text') or 'a key'}",
    "hold_key": lambda given: f"Hold {given.get('text') or 'a key'}",
    "bash": lambda given: f"Run {given.get('command') or 'a new shell'}",
    "files": lambda given: f"{str(given.get('verb') or 'use').capitalize()} {given.get('path', 'a file')}",
    "deliver": lambda given: f"Deliver {given.get('path', 'a file')}",
    "check": lambda given: f"Check {given.get('name') or 'the result'}",
    "request_human": lambda given: f"Ask for help: {given.get('question') or given.get('reason') or ''}".rstrip(": "),
    "screenshot": lambda given: "Look at the screen",
    "zoom": lambda given: "Look closer",
}
"""Of what was not carried out, or not yet."""


def _verify(event: Recorded) -> str:
    outcomes = [finding["outcome"] for finding in event.data["findings"]]
    counts = [f"{outcomes.count(one)} {one}" for one in Outcome if one in outcomes]
    return f"Checks: {', '.join(counts) or 'none'}"


def _message(event: Recorded) -> str:
    said = str(event.data.get("text") or event.data.get("reasoning") or event.name)
    return hinted(said) if event.name == "hint" else said


def hinted(said: str) -> str:
    """The hint itself, without what every branch is told before it."""
    hint = said.partition(BEFORE_HINT)[2] or said
    return hint[:1].upper() + hint[1:]


def _file(event: Recorded) -> str:
    return f"{event.data['name']} came {'in' if event.data['direction'] == 'in' else 'out'}"


def _snapshot(event: Recorded) -> str:
    label = event.data.get("label")
    return f"Snapshot “{label}”" if label else "Snapshot"


def _plain(event: Recorded) -> str:
    text = str(event.data.get("text") or event.data.get("reason") or event.name or event.kind)
    return text if event.kind == Kind.SELECT else f"{text[:1].upper()}{text[1:]}"


def _observation(event: Recorded) -> str:
    machine = event.data.get("machine")
    return f"Machine {machine} is ready" if machine else _plain(event)


SENTENCES: Mapping[Kind, Callable[[Recorded], str]] = {
    Kind.MESSAGE: _message,
    Kind.ACTION: _action,
    Kind.OBSERVATION: _observation,
    Kind.VERIFY: _verify,
    Kind.SNAPSHOT: _snapshot,
    Kind.FORK: _plain,
    Kind.SELECT: _plain,
    Kind.TAKEOVER: _plain,
    Kind.FILE: _file,
    Kind.LIMIT: _plain,
    Kind.ERROR: _plain,
    Kind.POLICY: _plain,
}
ICONS = {
    Kind.OBSERVATION: "monitor",
    Kind.VERIFY: "list-checks",
    Kind.SNAPSHOT: "camera",
    Kind.FORK: "git-fork",
    Kind.SELECT: "trophy",
    Kind.TAKEOVER: "hand",
    Kind.FILE: "file",
    Kind.LIMIT: "gauge",
    Kind.ERROR: "circle-alert",
    Kind.POLICY: "shield-ban",
}
MESSAGE_ICONS = {"goal": "target", "reply": "message-square", "note": "sticky-note", "hint": "lightbulb"}
ACTION_ICONS = {
    "Click": "mouse-pointer-click",
    "Move": "mouse-pointer",
    "MouseDown": "mouse-pointer-click",
    "MouseUp": "mouse-pointer-click",
    "Drag": "move",
    "Scroll": "mouse",
    "Type": "keyboard",
    "Key": "keyboard",
    "Hold": "keyboard",
    "Wait": "hourglass",
    "bash": "terminal",
    "files": "file-pen",
    "machine": "server",
    "check": "list-checks",
    "request_human": "hand-helping",
    "deliver": "package-check",
    "done": "flag",
    "screenshot": "eye",
    "zoom": "zoom-in",
    "cursor_position": "crosshair",
}
