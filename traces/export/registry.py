from functools import cache
from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules

from .. import export
from ..errors import NotPossible
from .base import Exporter


@cache
def kinds() -> dict[str, type[Exporter]]:
    """By the name of the file, in the order in which they are offered."""
    found: dict[str, type[Exporter]] = {}
    for info in iter_modules(export.__path__):
        module = import_module(f"{export.__name__}.{info.name}")
        for value in vars(module).values():
            own = isinstance(value, type) and issubclass(value, Exporter) and value.__module__ == module.__name__
            if own and not isabstract(value):
                found[info.name] = value
    return dict(sorted(found.items(), key=lambda item: item[1].order))


def exporter(kind: str) -> type[Exporter]:
    """Raises NotPossible for a kind that does not exist, or cannot be made here."""
    if kind not in kinds():
        raise NotPossible(f"There is no export of the kind “{kind}”; choose one of {', '.join(kinds())}.")
    if reason := kinds()[kind].unavailable_reason():
        raise NotPossible(reason)
    return kinds()[kind]
