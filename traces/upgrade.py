"""Traces of older versions, brought to this one a step at a time."""

from collections.abc import Callable, Mapping

from .errors import Unreadable
from .events import VERSION
from .payloads import Json

Step = Callable[[Json], Json]

STEPS: Mapping[int, Step] = {}
"""From each older version to the one after it. A step takes a whole trace, and may change it in place."""


def upgrade(trace: Json, *, steps: Mapping[int, Step] = STEPS, version: int = VERSION) -> Json:
    """`trace` is an object with its `version`. Raises Unreadable when that is newer than `version`, or is none."""
    found = trace.get("version") if isinstance(trace, dict) else None
    if type(found) is not int or found < 1:
        raise Unreadable("This is no trace: it does not say in which version of the format it is written.")
    if found > version:
        raise Unreadable(
            f"This trace is in version {found} of the format, and this GodHand reads up to {version}: update it."
        )
    for older in range(found, version):
        trace = steps[older](trace)
        trace["version"] = older + 1
    return trace
