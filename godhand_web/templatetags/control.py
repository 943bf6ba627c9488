"""Who drives, where a template shows a desktop."""

import json
from typing import Any

from django import template

from sandboxes.models import Machine

from ..pages.control import facts_of

register = template.Library()


@register.simple_tag(takes_context=True)
def control_facts(context: dict[str, Any], machine: Machine) -> str:
    return json.dumps(facts_of(context["request"].user, machine))
