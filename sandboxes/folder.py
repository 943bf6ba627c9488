"""The folder is the registry: what a package's files define is what there is."""

from importlib import import_module
from inspect import isabstract
from pkgutil import iter_modules
from types import ModuleType
from typing import TypeVar

Thing = TypeVar("Thing")


def defined_in(package: ModuleType, base: type[Thing]) -> dict[str, type[Thing]]:
    """The finished subclasses of `base`, by the file that defines them; names with an underscore are for helpers."""
    found: dict[str, type[Thing]] = {}
    for info in iter_modules(package.__path__):
        if info.name.startswith("_"):
            continue
        module = import_module(f"{package.__name__}.{info.name}")
        for value in vars(module).values():
            own = isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__
            if own and not isabstract(value):
                found[info.name] = value
    return found
