"""The way from a request to a desktop, as a list one can watch getting shorter."""

from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Literal

from django.db.models import Min

from sandboxes.models import Event, Machine, State

from ..templatetags.godhand import spoken

WAY = (
    (State.QUEUED, "Queued"),
    (State.PROVISIONING, "Network and disk"),
    (State.BOOTING, "Booting"),
    (State.READY, "Desktop ready"),
)


@dataclass(frozen=True)
class Stage:
    title: str
    progress: Literal["done", "now", "next", "stopped"]
    since: datetime | None = None
    took: str = ""


def stages(machine: Machine) -> list[Stage]:
    """Empty once the desktop has been there."""
    reached = first_times(machine)
    if State.READY in reached:
        return []
    order = [state for state, _ in WAY]
    last = max((order.index(State(state)) for state in reached if state in order), default=0)
    ends: dict[str, datetime | None] = {
        before: reached.get(after, machine.state_since) for before, after in pairwise(order)
    }
    found = []
    for place, (state, title) in enumerate(WAY):
        since, end = reached.get(state), ends.get(state)
        if place < last and since and end:
            found.append(Stage(title, "done", since, spoken(end - since)))
        elif place == last:
            found.append(Stage(title, "now" if machine.pending else "stopped", since))
        else:
            found.append(Stage(title, "done" if place < last else "next"))
    return found


def first_times(machine: Machine) -> dict[str, datetime]:
    """Since it was made or, if it has been stopped, since then."""
    events = Event.objects.filter(machine=machine).order_by()
    times: dict[str, datetime] = {State.QUEUED: machine.created_at}
    stopped = events.filter(state=State.STOPPED).order_by("-pk").first()
    if stopped is not None:
        events, times = events.filter(pk__gt=stopped.pk), {State.QUEUED: stopped.at}
    return times | dict(events.values_list("state").annotate(Min("at")))
