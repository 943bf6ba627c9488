"""Words for traces: the states of runs, times, money, and addresses."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

from agents.models import Branch
from traces.models import Trace

from ..pages.trace_branches import shown_state
from ..pages.trace_details import cut as shortened
from .godhand import Look, chip, spoken

register = template.Library()

LOOKS = {
    "queued": Look("clock", "Queued", "wait"),
    "provisioning": Look("network", "Preparing", "wait"),
    "booting": Look("power", "Booting", "wait"),
    "running": Look("circle-dot", "Running", "run"),
    "paused": Look("circle-pause", "Paused", "wait"),
    "needs_help": Look("hand-helping", "Needs help", "wait"),
    "human_control": Look("hand", "A person drives", "human"),
    "finishing": Look("hourglass", "Finishing", "run"),
    "succeeded": Look("circle-check", "Succeeded", "pass"),
    "failed": Look("circle-x", "Failed", "fail"),
    "cancelled": Look("circle-slash", "Cancelled", "infra"),
    "infra_error": Look("unplug", "Machine or model failed", "infra"),
    "forked": Look("git-fork", "Forked", "infra"),
}
NONE = Look("circle-dashed", "Recorded", "infra")


@register.filter
def run_look(state: str) -> Look:
    return LOOKS.get(state, NONE)


@register.simple_tag
def run_state(value: str) -> SafeString:
    return chip(run_look(value))


@register.simple_tag
def branch_state(branch: Branch) -> SafeString:
    return run_state(shown_state(branch.state, branch.detail))


@register.simple_tag
def outcome(trace: Trace, branches: Any) -> SafeString:
    """The state of its run; of a trace without one, what its checks say."""
    tones = {card.tone for card in branches.values()} if isinstance(branches, dict) and not trace.state else set()
    checked = "succeeded" if "pass" in tones else "failed" if "fail" in tones else ""
    return run_state(trace.state or checked)


@register.filter
def lasted(trace: Trace) -> str:
    return spoken(trace.ended_at - trace.created_at) if trace.ended_at else ""


@register.simple_tag
def to(links: Any, where: str, *about: Any, **changes: Any) -> str:
    """An address, from whoever knows all of them."""
    return str(getattr(links, where)(*about, **changes))


ACTORS = {
    "agent": ("run", "bot"),
    "human": ("human", "hand"),
    "system": ("", "server"),
    "verifier": ("", "list-checks"),
}


@register.filter
def actor_tone(actor: str) -> str:
    return ACTORS[actor][0]


@register.filter
def actor_icon(actor: str) -> str:
    return ACTORS[actor][1]


@register.filter
def cut(text: object) -> str:
    return shortened(str(text))


@register.filter
def ms(milliseconds: float | None) -> str:
    if milliseconds is None:
        return ""
    return f"{milliseconds:.0f} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"


@register.filter
def clock(milliseconds: float | None) -> str:
    """Minutes and seconds since the beginning; `static/js/lib/trace-words.js` says the same."""
    if milliseconds is None:
        return ""
    seconds = int(milliseconds // 1000)
    hours, minutes = seconds // 3600, seconds // 60 % 60
    return f"{hours}:{minutes:02}:{seconds % 60:02}" if hours else f"{minutes}:{seconds % 60:02}"


@register.filter
def money(dollars: float) -> str:
    places = 2 if dollars >= 0.1 or not dollars else 3 if dollars >= 0.01 else 4
    return f"${dollars:,.{places}f}"


@register.filter
def figure(number: int | None) -> str:
    """Short: 12.3k rather than 12,345."""
    count = number or 0
    if count < 10_000:
        return f"{count:,}"
    return f"{count / 1000:.1f}k" if count < 1_000_000 else f"{count / 1_000_000:.1f}M"


@register.filter
def commas(number: int | None) -> str:
    return f"{number or 0:,}"
