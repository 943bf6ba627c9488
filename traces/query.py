"""What people type to find steps: words, "whole phrases", and filters such as `type:click` or `after:10m`."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from .events import Actor, Kind

MOST_TERMS = 20
LONGEST = 300

TOKEN = re.compile(r'(?:(?P<name>[A-Za-z]{2,}):)?(?:"(?P<phrase>[^"]*)"?|(?P<word>[^\s"]+))')
TIME = re.compile(r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s?)?")


class BadQuery(ValueError):
    """The text is a sentence for whoever asked."""


@dataclass(frozen=True)
class Query:
    """All that is given must be true of a step. `words` may be anywhere, `text` must be on its screen.

    `after` and `before` count from the beginning of the trace. All text is in lower case.
    """

    words: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    by: tuple[Actor, ...] = ()
    branches: tuple[str, ...] = ()
    error: bool | None = None
    after: timedelta | None = None
    before: timedelta | None = None

    @property
    def empty(self) -> bool:
        return self == Query()


def parse(given: str) -> Query:
    """Raises BadQuery."""
    if len(given) > LONGEST:
        raise BadQuery(f"That is too long to look for: {LONGEST} characters are the most.")
    tokens = list(TOKEN.finditer(given))
    if len(tokens) > MOST_TERMS:
        raise BadQuery(f"Those are too many words at once: {MOST_TERMS} are the most.")
    query = Query()
    for token in tokens:
        query = _with(query, token)
    return query


def _with(query: Query, token: re.Match[str]) -> Query:
    name, value = (token["name"] or "").lower(), token["phrase"] if token["word"] is None else token["word"]
    if name in FILTERS:
        if not value.strip():
            raise BadQuery(f"{name}: needs something after the colon.")
        return _filtered(query, name, value.strip())
    if name and token["word"] is not None and not value.startswith("//"):
        known = ", ".join(f"{one}:" for one in FILTERS)
        raise BadQuery(f"There is no filter “{name}:”. There are {known}; put quotes around a text with a colon.")
    if value.endswith(":") and value[:-1].lower() in FILTERS:
        raise BadQuery(f"{value} needs something after the colon.")
    text = f"{token['name']}:{value}" if name else value
    return replace(query, words=(*query.words, text.lower())) if text.strip() else query


def _filtered(query: Query, name: str, value: str) -> Query:
    field, convert = FILTERS[name]
    known, new = getattr(query, field), convert(name, value)
    changed: dict[str, Any] = {field: (*known, new) if isinstance(known, tuple) else new}
    return replace(query, **changed)


def _one_of(**known: Any) -> Callable[[str, str], Any]:
    def convert(name: str, value: str) -> Any:
        if value.lower() not in known:
            raise BadQuery(f"{name}: can be {', '.join(known)}, and not “{value[:40]}”.")
        return known[value.lower()]

    return convert


def _time(name: str, value: str) -> timedelta:
    match = TIME.fullmatch(value.lower())
    if match is None or not any(match.groups()):
        raise BadQuery(f"{name}: needs a time since the beginning, such as 90s, 10m or 1h30m, and not “{value[:40]}”.")
    hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)


FILTERS: Mapping[str, tuple[str, Callable[[str, str], Any]]] = {
    "type": ("types", lambda _, value: value.lower()),
    "kind": ("kinds", _one_of(**{kind.value: kind for kind in Kind})),
    "by": ("by", _one_of(**{actor.value: actor for actor in Actor}, person=Actor.HUMAN)),
    "error": ("error", _one_of(yes=True, no=False)),
    "text": ("text", lambda _, value: value.lower()),
    "branch": ("branches", lambda _, value: value),
    "after": ("after", _time),
    "before": ("before", _time),
}
