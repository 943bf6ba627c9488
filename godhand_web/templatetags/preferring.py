"""How a browser wants its pages, where its form shows it."""

from typing import Any

from django import template

register = template.Library()


@register.simple_tag(takes_context=True)
def browser_choices(context: dict[str, Any]) -> dict[str, Any]:
    """What was sent just now, or else what this browser remembers."""
    form = context["form"]
    if form.is_bound:
        return dict(form.data.items())
    return {
        "theme": context["theme"],
        "density": "compact" if context["compact"] else "comfortable",
        "motion": "reduce" if context["still"] else "system",
        "keys": "off" if context["keys_off"] else "on",
        **{f"notify_{name}": "1" for name in context["notify"]},
    }
