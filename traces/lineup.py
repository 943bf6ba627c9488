"""The rule that makes events a trace: each follows one that is there, and every branch is a line."""

from .errors import BadBundle
from .events import Recorded


class Lineup:
    """Events are shown to it in order; it raises BadBundle for the first that cannot follow. `most` are allowed."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._heads: dict[str, int] = {}
        self._known: set[int] = set()
        self._last = 0

    def follow(self, event: Recorded) -> None:
        if len(self._known) >= self._most:
            raise BadBundle(f"The trace has more than {self._most} events.")
        if event.seq <= self._last:
            raise BadBundle(f"Event {event.seq} comes after event {self._last}: they are out of order, or doubled.")
        if (event.parent is None) == bool(self._known):
            raise BadBundle(f"Event {event.seq} {'follows none' if self._known else 'is the first, and follows one'}.")
        if event.parent is not None:
            self._check_parent(event)
        self._last = event.seq
        self._known.add(event.seq)
        self._heads[event.branch] = event.seq

    def end(self) -> None:
        if not self._known:
            raise BadBundle("The trace has no events.")

    def _check_parent(self, event: Recorded) -> None:
        if event.parent not in self._known:
            raise BadBundle(f"Event {event.seq} follows event {event.parent}, which is not there before it.")
        head = self._heads.get(event.branch)
        if head is not None and head != event.parent:
            raise BadBundle(f"Event {event.seq} does not follow the last one of its branch.")
