"""Whether what somebody wrote in JSON, TOML or Python can be the options of a provider, told by their types."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ..errors import BadTask

WORDS: Mapping[Any, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}


def checked(made: type, values: Mapping[str, Any], within: str = "") -> Any:
    """One of that dataclass. Raises BadTask, which names the option and what it may be."""
    hints, known = get_type_hints(made), {field.name: field for field in fields(made)}
    for name in values:
        if name not in known:
            raise BadTask(f"{within}{name}: there is no such option; there are {', '.join(sorted(known))}.")
    for name, field in known.items():
        if field.default is MISSING and name not in values:
            raise BadTask(f"{within}{name}: is needed.")
    return made(**{name: _fitted(f"{within}{name}", hints[name], value) for name, value in values.items()})


def _fitted(name: str, hint: Any, value: Any) -> Any:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Literal:
        return _choice(name, inner, value)
    if origin in (Union, UnionType):
        return _either(name, inner, value)
    if origin is tuple:
        return _several(name, inner, value)
    if is_dataclass(hint) and isinstance(hint, type):
        return _table(name, hint, value)
    return _simple(name, hint, value)


def _choice(name: str, choices: tuple[Any, ...], value: Any) -> Any:
    if value not in choices:
        raise BadTask(f"{name}: must be one of {', '.join(map(str, choices))}.")
    return value


def _either(name: str, hints: tuple[Any, ...], value: Any) -> Any:
    """Of several types the options themselves know which it is."""
    wanted = [hint for hint in hints if hint is not NoneType]
    return value if len(wanted) > 1 or (value is None and NoneType in hints) else _fitted(name, wanted[0], value)


def _several(name: str, hints: tuple[Any, ...], value: Any) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple) or len(value) != len(hints):
        raise BadTask(f"{name}: must be a list of {len(hints)}.")
    return tuple(
        _fitted(f"{name}[{place}]", hint, item) for place, (hint, item) in enumerate(zip(hints, value, strict=True))
    )


def _table(name: str, made: type, value: Any) -> Any:
    if isinstance(value, made):
        return value
    if not isinstance(value, Mapping):
        raise BadTask(f"{name}: must be a table with {', '.join(field.name for field in fields(made))}.")
    return checked(made, value, f"{name}.")


def _simple(name: str, hint: Any, value: Any) -> Any:
    good = isinstance(value, int | float) and abs(value) < math.inf if hint is float else isinstance(value, hint)
    if not good or (isinstance(value, bool) and hint is not bool):
        raise BadTask(f"{name}: must be {WORDS[hint]}.")
    return value
