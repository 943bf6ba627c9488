"""The folder is the registry: a tool is one file here."""

from functools import cache

from sandboxes.folder import defined_in

from .. import tools
from ..errors import BadCall
from .base import Tool


@cache
def all_tools() -> dict[str, Tool]:
    return {made.name: made() for made in defined_in(tools, Tool).values()}  # type: ignore[type-abstract]


def tool(name: str) -> Tool:
    """Raises BadCall for one that does not exist."""
    try:
        return all_tools()[name]
    except KeyError:
        raise BadCall(f"There is no tool “{name[:50]}”; there are {', '.join(all_tools())}.") from None
