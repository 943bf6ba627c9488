"""Whether JSON from outside has the shape that a type says: the vocabulary itself is the rule."""

from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, NewType, Union, get_args, get_origin, get_type_hints, is_typeddict

from .payloads import Json

PLAIN = {str: "text", int: "a whole number", float: "a number", bool: "true or false", NoneType: "nothing"}


class Misshapen(ValueError):
    """The message goes on after the name of what was looked at."""


def check(value: Json, wanted: Any, where: str = "") -> None:
    """`wanted` is a TypedDict, a plain type, a list or tuple of these, a Literal, or a union. Raises Misshapen.

    Keys that the type does not know are let through.
    """
    if isinstance(wanted, NewType):
        wanted = wanted.__supertype__
    if wanted is Any:
        return
    if is_typeddict(wanted):
        _check_object(value, wanted, where)
    elif wanted in PLAIN:
        _check_plain(value, wanted, where)
    else:
        _check_generic(value, get_origin(wanted), get_args(wanted), where)


def _check_generic(value: Json, origin: Any, arguments: tuple[Any, ...], where: str) -> None:
    if origin in (Union, UnionType):
        _check_any(value, arguments, where)
    elif origin is Literal:
        if value not in arguments:
            raise Misshapen(f"{where} must be one of {', '.join(map(str, arguments))}")
    elif origin is tuple:
        _check_list(value, where, len(arguments))
        for number, (item, each) in enumerate(zip(value, arguments, strict=True)):
            check(item, each, f"{where}[{number}]")
    else:
        assert origin is list
        _check_list(value, where)
        for number, item in enumerate(value):
            check(item, arguments[0], f"{where}[{number}]")


def _check_any(value: Json, choices: tuple[Any, ...], where: str) -> None:
    problems = []
    for choice in choices:
        try:
            return check(value, choice, where)
        except Misshapen as problem:
            problems.append(problem)
    raise problems[0]


def _check_object(value: Json, wanted: Any, where: str) -> None:
    if not isinstance(value, dict):
        raise Misshapen(f"{where or 'it'} must be an object")
    for key, each in _hints(wanted).items():
        name = f"{where}.{key}" if where else key
        if key not in value:
            raise Misshapen(f"{name} is missing")
        check(value[key], each, name)


def _check_plain(value: Json, wanted: Any, where: str) -> None:
    fits = type(value) is wanted or (wanted is float and type(value) is int)
    if not fits:
        raise Misshapen(f"{where} must be {PLAIN[wanted]}")


def _check_list(value: Json, where: str, length: int | None = None) -> None:
    if not isinstance(value, list):
        raise Misshapen(f"{where} must be a list")
    if length is not None and len(value) != length:
        raise Misshapen(f"{where} must have {length} items")


@cache
def _hints(wanted: Any) -> dict[str, Any]:
    return get_type_hints(wanted)
