"""What became of a moment of a schedule: icon, word and colour."""

from typing import Any

from django import template

from agents.standing import Firing

from .godhand import Look

register = template.Library()
Outcome = Firing.Outcome

LOOKS = {
    Outcome.STARTED: Look("play", "Started", "run"),
    Outcome.CAUGHT_UP: Look("history", "Caught up", "run"),
    Outcome.BY_HAND: Look("hand", "Started by hand", "human"),
    Outcome.SKIPPED: Look("skip-forward", "Skipped", "wait"),
    Outcome.MISSED: Look("calendar-x-2", "Missed", "wait"),
    Outcome.FAILED: Look("circle-x", "Could not start", "fail"),
}


@register.filter
def firing_look(outcome: str) -> Look:
    return LOOKS[Outcome(outcome)]


@register.inclusion_tag("parts/state.html")
def firing(outcome: str) -> dict[str, Any]:
    return {"look": firing_look(outcome)}
