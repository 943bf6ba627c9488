"""The folder is the registry: a backend is one file in `backends/`, named after its kind."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from . import backends
from .base import Sandbox
from .errors import Unavailable


@cache
def kinds() -> dict[str, type[Sandbox]]:
    found = {}
    for module_info in iter_modules(backends.__path__):
        module = import_module(f"{backends.__name__}.{module_info.name}")
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Sandbox) and value.__module__ == module.__name__:
                found[module_info.name] = value
    return found


def backend(kind: str) -> type[Sandbox]:
    """Raises Unavailable for a kind that does not exist."""
    try:
        return kinds()[kind]
    except KeyError:
        raise Unavailable(f"There is no backend “{kind}”; choose one of {', '.join(kinds())}.") from None
