"""A task as the call that makes it, for whoever wants it in a program."""

from collections.abc import Iterable, Mapping
from pprint import pformat
from typing import Any

SHELL = "# ./godhand manage shell"
WIDTH = 88
INDENT = "    "


def in_python(
    person: str,
    call: Mapping[str, Any],
    files: Iterable[str],
    *,
    secrets: Iterable[str] = (),
    when: tuple[str, str, bool] | None = None,
) -> str:
    """Runs as it stands, where files of these names are in the folder; the values of secrets are asked for."""
    names, hidden = list(files), list(secrets)
    left_out = ("goal", "runs") if when else ("goal",)
    given = {name: value for name, value in call.items() if name not in left_out}
    arguments = [f"{name}={_literal(value)}" for name, value in given.items()]
    arguments += _made("attachments", {name: f"Path({name!r})" for name in names})
    arguments += _made("secrets", {name: f"getpass({f'{name}: '!r})" for name in hidden})
    lines = [
        SHELL,
        *(["from getpass import getpass"] if hidden else []),
        *(["from pathlib import Path"] if names else []),
        *(["from agents import schedules"] if when else []),
        f"from agents.api import {'save' if when else 'submit'}",
        "from godhand_web.models import User",
        "",
        "task = save(" if when else "submit(",
        f"{INDENT}User.objects.get(username={person!r}),",
        f"{INDENT}{_literal(call['goal'])},",
        *(f"{INDENT}{argument}," for argument in arguments),
        ")",
        *([_schedule(*when, runs=call.get("runs", 1))] if when else []),
    ]
    return "\n".join(lines)


def _made(argument: str, calls: Mapping[str, str]) -> list[str]:
    inside = ", ".join(f"{name!r}: {made}" for name, made in calls.items())
    return [f"{argument}={{{inside}}}"] if calls else []


def _schedule(words: str, zone: str, catch_up: bool, *, runs: int) -> str:
    more = {"runs": runs if runs > 1 else None, "catch_up": catch_up or None}
    options = "".join(f", {name}={value!r}" for name, value in more.items() if value)
    return f"schedules.make(task, {words.strip()!r}, {zone!r}{options})"


def _literal(value: Any) -> str:
    """Text of several lines as it was written, wherever Python can have it so."""
    if isinstance(value, str) and "\n" in value:
        plain = value.replace("\r\n", "\n")
        if "\\" not in plain and '"""' not in plain and not plain.endswith('"') and plain.isascii():
            return f'"""{plain}"""'
        return repr(plain)
    return pformat(value, width=WIDTH, sort_dicts=False).replace("\n", f"\n{INDENT}")
