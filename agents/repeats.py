"""Notices an agent that does the same again and again while nothing changes."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from .tools.computer import TOOLSET
from .turns import Result

TELL = 3
STOP = 6
WORD = (
    "You have done this {count} times in a row, and the screen has not changed. It does not work: look at the screen "
    "again, and try another way."
)


@dataclass
class Repeats:
    """Of whole batches. A change of the screen, another answer of a tool, or anything else done, begins anew."""

    tell: int = TELL
    stop: int = STOP
    count: int = field(default=0, init=False)
    _last: tuple[tuple[str, str, str], ...] = field(default=(), init=False)

    def saw(self, results: Sequence[Result], changed: bool) -> None:
        batch = tuple(map(_told, results))
        self.count = 0 if changed else self.count + 1 if batch == self._last else 1
        self._last = batch

    @property
    def word(self) -> str:
        """What the model is told now; mostly nothing."""
        return WORD.format(count=self.count) if self.count >= self.tell else ""

    @property
    def hopeless(self) -> bool:
        return self.count >= self.stop


def _told(result: Result) -> tuple[str, str, str]:
    """What a call on the desktop has done is on the screen; what a tool has done is in its answer."""
    call = result.call
    return call.name, repr(sorted(call.input.items())), "" if call.toolset == TOOLSET else result.text
