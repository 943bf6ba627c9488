"""Which keys and words belong to the format itself: whoever hides words leaves them alone."""

from collections.abc import Mapping

from . import payloads
from .events import Outcome
from .sentences import ACTS

STRUCTURE = frozenset(
    name
    for shape in vars(payloads).values()
    if isinstance(shape, type) and issubclass(shape, dict)
    for name in getattr(shape, "__annotations__", ())
) | {"action", "x", "y", "to_x", "to_y", "via", "button", "count", "holding", "chord", "repeat", "seconds", "machine"}

VOCABULARY: Mapping[str, frozenset[str]] = {
    "outcome": frozenset(Outcome),
    "direction": frozenset({"in", "out"}),
    "action": frozenset(map(str, ACTS)),
}
