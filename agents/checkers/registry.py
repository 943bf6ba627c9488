"""The folder is the registry: a checker is one file in it, named after its kind."""

from collections.abc import Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from typing import Any, get_args, get_origin

from sandboxes.display.screen import Box
from sandboxes.folder import defined_in

from .. import checkers
from ..errors import BadTask
from .base import Checker, is_needed, option_types, shown


@cache
def kinds() -> dict[str, type[Checker]]:
    return defined_in(checkers, Checker)  # type: ignore[type-abstract]


def checker(kind: object, options: Mapping[str, Any]) -> Checker:
    """Raises BadTask for a kind or an option that does not exist, naming the nearest, or that makes no sense."""
    if not isinstance(kind, str) or kind not in kinds():
        raise BadTask(f"kind: there is no check “{shown(str(kind), 60)}”{_nearest(str(kind), kinds())}")
    names = [option.name for option in fields(kinds()[kind])]
    for name in options:
        if name not in names:
            raise BadTask(f"{shown(name, 60)}: {kind} has no such option{_nearest(name, names)}")
    return kinds()[kind].from_options(options)


def catalogue() -> str:
    """Every kind with its options, for a model that may write its own checks.

    What may be left out has a `?`, a list `[]`, a table `{}`, and a box `[4]`.
    """
    return "\n".join(f"{kind}({_signature(found)}): {_purpose(found)}" for kind, found in kinds().items())


def _signature(found: type[Checker]) -> str:
    """Without `user`, which only a check of the task can have."""
    shapes = {name: _shape(hint) for name, hint in option_types(found).items()}
    options = [option for option in fields(found) if option.name != "user"]
    return ", ".join(f"{one.name}{shapes[one.name]}{'' if is_needed(one) else '?'}" for one in options)


def _shape(hint: Any) -> str:
    inner = get_args(hint)
    if get_origin(hint) is tuple:
        return f"[]{_shape(inner[0])}"
    if get_origin(hint) is Mapping:
        return f"{{}}{_shape(inner[1])}"
    return "[4]" if hint is Box else _shape(inner[0]) if inner else ""


def _purpose(found: type[Checker]) -> str:
    return (found.__doc__ or "").partition("\n")[0]


def _nearest(name: str, valid: Iterable[str]) -> str:
    valid = list(valid)
    near = get_close_matches(name, valid, 1)
    return f"; did you mean “{near[0]}”?" if near else f"; choose one of {', '.join(valid)}."
