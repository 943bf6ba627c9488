"""Checks as people write them: TOML, from what a task has stored."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

FIRST = ("name", "kind")


def to_toml(checks: Sequence[Mapping[str, Any]]) -> str:
    """What `parse_checks` reads back as the same."""
    return "\n".join(_table(check) for check in checks)


def _table(check: Mapping[str, Any]) -> str:
    names = [*(name for name in FIRST if name in check), *(name for name in check if name not in FIRST)]
    lines = (f"{_key(name)} = {_value(check[name])}" for name in names if not _is_usual(name, check[name]))
    return "\n".join(("[[check]]", *lines, ""))


def _is_usual(name: str, value: Any) -> bool:
    return value is None or (name == "when" and value == ["done"])


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        inside = ", ".join(f"{_key(name)} = {_value(one)}" for name, one in value.items() if one is not None)
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("-", "_").isidentifier() else _value(name)
