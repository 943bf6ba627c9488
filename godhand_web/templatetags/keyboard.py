"""The keys of a page, for the sheet that `?` opens."""

from typing import Any

from django import template

from ..pages.keyboard import GROUPS

register = template.Library()


@register.inclusion_tag("parts/key_lines.html")
def keys_of(group: str, **there: Any) -> dict[str, Any]:
    """A key that is named and not `there` is left out."""
    return {"lines": [(pressed, does) for pressed, does in GROUPS[group].lines if there.get(pressed, True)]}
