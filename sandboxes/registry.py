"""The folder is the registry: a backend is one file in `backends/`, named after its kind."""

from functools import cache

from . import backends
from .base import Sandbox
from .errors import Unavailable
from .folder import defined_in


@cache
def kinds() -> dict[str, type[Sandbox]]:
    return defined_in(backends, Sandbox)  # type: ignore[type-abstract]


def backend(kind: str) -> type[Sandbox]:
    """Raises Unavailable for a kind that does not exist."""
    try:
        return kinds()[kind]
    except KeyError:
        raise Unavailable(f"There is no backend “{kind}”; choose one of {', '.join(kinds())}.") from None
