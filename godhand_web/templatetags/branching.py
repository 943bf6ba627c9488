"""The branches of a run beside its stage."""

from typing import Any

from django import template

from ..pages.branch_heads import branch_heads
from ..pages.task_view import RunView

register = template.Library()


@register.filter
def visible(name: str) -> str:
    """A file's name with every character to be seen: those that turn or break lines are replaced."""
    return "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in name)


@register.inclusion_tag("branches/_tiles.html")
def branch_tiles(view: RunView, tab: str) -> dict[str, Any]:
    """One tile for each, when there are several."""
    several = len(view.branches) > 1
    return {"heads": branch_heads(view.run, view.links, view.person) if several else [], "view": view, "tab": tab}
