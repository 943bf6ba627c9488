"""What others want of a branch while it runs."""

from collections.abc import Sequence
from typing import Protocol

from .history import Conversation


class Watch(Protocol):
    """Looked at before each request to the model, and before each action."""

    def look(self, talk: Conversation) -> None:
        """Raises the Ending that somebody asked for or a limit demands, and Fenced."""

    def notes(self) -> Sequence[tuple[str, str]]:
        """Words of people that the model has not heard yet, each with a name of its own; they are new turns."""

    def wait(self, seconds: float) -> None:
        """Between two requests; raises as `look`."""
