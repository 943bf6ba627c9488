"""The folder is the registry: a tool is one file here."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from .. import tools
from ..errors import BadCall
from .base import Tool


@cache
def all_tools() -> dict[str, Tool]:
    found = {}
    for module_info in iter_modules(tools.__path__):
        module = import_module(f"{tools.__name__}.{module_info.name}")
        for value in vars(module).values():
            own = isinstance(value, type) and issubclass(value, Tool) and value.__module__ == module.__name__
            if own and value is not Tool:
                found[value.name] = value()
    return found


def tool(name: str) -> Tool:
    """Raises BadCall for one that does not exist."""
    try:
        return all_tools()[name]
    except KeyError:
        raise BadCall(f"There is no tool “{name[:50]}”; there are {', '.join(all_tools())}.") from None
