"""A task as the call that makes it, for whoever wants it in a program."""

from collections.abc import Iterable, Mapping
from pprint import pformat
from typing import Any

SHELL = "# ./godhand manage shell"
WIDTH = 88
INDENT = "    "


def in_python(person: str, call: Mapping[str, Any], files: Iterable[str]) -> str:
    """Runs as it stands, where files of these names are in the folder."""
    names = list(files)
    given = {name: value for name, value in call.items() if name != "goal"}
    arguments = [f"{name}={_literal(value)}" for name, value in given.items()]
    if names:
        paths = ", ".join(f"{name!r}: Path({name!r})" for name in names)
        arguments.append(f"attachments={{{paths}}}")
    lines = [
        SHELL,
        *(["from pathlib import Path"] if names else []),
        "from agents.api import submit",
        "from godhand_web.models import User",
        "",
        "submit(",
        f"{INDENT}User.objects.get(username={person!r}),",
        f"{INDENT}{_literal(call['goal'])},",
        *(f"{INDENT}{argument}," for argument in arguments),
        ")",
    ]
    return "\n".join(lines)


def _literal(value: Any) -> str:
    """Text of several lines as it was written, wherever Python can have it so."""
    if isinstance(value, str) and "\n" in value:
        plain = value.replace("\r\n", "\n")
        if "\\" not in plain and '"""' not in plain and not plain.endswith('"') and plain.isascii():
            return f'"""{plain}"""'
        return repr(plain)
    return pformat(value, width=WIDTH, sort_dicts=False).replace("\n", f"\n{INDENT}")
