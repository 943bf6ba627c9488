"""Notices an agent that does the same again and again while nothing changes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .turns import Call

TELL = 3
STOP = 6
WORD = (
    "You have done this {count} times in a row, and the screen has not changed. It does not work: look at the screen "
    "again, and try another way."
)


@dataclass
class Repeats:
    """Of whole batches. A change of the screen, or anything else done, begins anew."""

    tell: int = TELL
    stop: int = STOP
    count: int = field(default=0, init=False)
    _last: tuple[tuple[str, str], ...] = field(default=(), init=False)

    def saw(self, calls: Sequence[Call], changed: bool) -> None:
        batch = tuple((call.name, repr(sorted(call.input.items()))) for call in calls)
        self.count = 0 if changed else self.count + 1 if batch == self._last else 1
        self._last = batch

    @property
    def word(self) -> str:
        """What the model is told now; mostly nothing."""
        return WORD.format(count=self.count) if self.count >= self.tell else ""

    @property
    def hopeless(self) -> bool:
        return self.count >= self.stop
