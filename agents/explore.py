"""Several ways at once, for pages, commands, other programs and the agent's own tool alike.

    best_of(run, event, 4)                      four ways from the machine's last saved moment before that event
    search(run, 2, budget=12)                   keep two going; each that fails is followed by one from the best moment

Both raise BadTask with a sentence. What `key` names happens once.
"""

from collections.abc import Sequence

from traces.payloads import EventId
from traces.queries import head_of

from .branching import Way, fork_at
from .errors import BadTask
from .models import Branch, Run
from .points import Point, nearest
from .trying import search
from .ways import ways

__all__ = ["best_of", "point_at", "search"]


def point_at(run: Run, event: EventId | None = None) -> Point:
    """The last moment on the path to an event, or to the end of the first branch, that a branch can begin at."""
    first = run.branches.first()
    end = event or (head_of(run.trace_id, first.name) if first else None)
    try:
        found = nearest(run, end) if end else None
    except ValueError as error:
        raise BadTask(f"event: {error}") from None
    if found is None:
        raise BadTask("The machine was not saved before that step: there is nothing to begin from.")
    return found


def best_of(run: Run, event: EventId | None, n: int, *, hints: Sequence[str] = (), key: str = "") -> list[Branch]:
    """As many attempts from one moment, those with hints first. In the end the best is chosen."""
    chosen = [Way(hint) for hint in ways(n, hints)]
    return fork_at(run, point_at(run, event), chosen, key=key)
