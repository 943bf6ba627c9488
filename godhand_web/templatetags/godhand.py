"""The small vocabulary all templates share: icons, states, durations."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from sandboxes.models import State

register = template.Library()

SPRITE = "vendor/lucide-1.62.0/sprite.svg"
NAMED = re.compile(r"[\w ,]{1,30}: ")


@dataclass(frozen=True)
class Look:
    icon: str
    word: str
    tone: str


LOOKS = {
    State.QUEUED: Look("clock", "Queued", "wait"),
    State.PROVISIONING: Look("network", "Preparing", "wait"),
    State.BOOTING: Look("power", "Booting", "wait"),
    State.READY: Look("circle-dot", "Ready", "run"),
    State.STOPPING: Look("hourglass", "Stopping", "wait"),
    State.STOPPED: Look("circle-pause", "Stopped", "infra"),
    State.DESTROYING: Look("hourglass", "Destroying", "infra"),
    State.DESTROYED: Look("circle-slash", "Destroyed", "infra"),
    State.FAILED: Look("circle-x", "Failed", "fail"),
    State.LOST: Look("unplug", "Lost", "infra"),
}


@register.simple_tag
@lru_cache
def icon(name: str) -> SafeString:
    return format_html(
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="{}#{}"></use></svg>', static(SPRITE), name
    )


@register.filter
def look(state: str) -> Look:
    return LOOKS[State(state)]


@lru_cache
def chip(look: Look) -> SafeString:
    return format_html('<span class="chip {}">{}{}</span>', look.tone, icon(look.icon), look.word)


@register.simple_tag
def state(value: str) -> SafeString:
    return chip(look(value))


@register.simple_tag
def since(at: datetime) -> SafeString:
    """How long ago, with the moment itself: pages have many of them."""
    moment = f"{at:%-d %b %Y, %H:%M:%S} UTC"
    return format_html('<time datetime="{}" data-elapsed title="{}">{}</time>', at.isoformat(), moment, elapsed(at))


@register.filter
def elapsed(since: datetime) -> str:
    return spoken(timezone.now() - since)


def spoken(span: timedelta) -> str:
    """The two largest units that matter. `static/js/lib/elapsed.js` says the same once a second."""
    seconds = max(0, int(span.total_seconds()))
    days, hours, minutes = seconds // 86400, seconds // 3600 % 24, seconds // 60 % 60
    if days:
        return f"{days} d {hours} h"
    if hours:
        return f"{hours} h {minutes} min"
    if minutes:
        return f"{minutes} min {seconds % 60} s"
    return f"{seconds} s"


@register.filter
def seconds(span: float | None) -> str:
    return "" if span is None else f"{span:.1f} s" if span < 10 else spoken(timedelta(seconds=span))


@register.filter
def of_field(error: str, label: str) -> str:
    """“Minutes: enter a number.”; what names a field itself stays as it is."""
    if NAMED.match(error) or error.lower().startswith(label.lower()):
        return error
    first, rest = error[:1], error[1:]
    return f"{label}: {first.lower() if rest[:1].islower() else first}{rest}"


@register.filter
def short(digest: str) -> str:
    return digest.removeprefix("sha256:")[:12]
