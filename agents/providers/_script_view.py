"""What a script can know: the conversation so far, and the screen as it was last shown."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from sandboxes.display.screen import Screen
from sandboxes.errors import Unavailable

from .. import ocr
from ..errors import ProviderError
from ..turns import Answered, Picture, Reply, Result, Said, Turn


@dataclass(frozen=True)
class Position:
    """The step that is next, and how often it has asked for a look at the screen.

    `looking`: the reply at this position was such a look, and no word of the script.
    """

    at: int = 0
    waits: int = 0
    looking: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> "Position":
        """Raises ProviderError for what `to_json` never gave."""
        kinds = {"at": int, "waits": int, "looking": bool}
        if not isinstance(value, dict) or {name: type(inner) for name, inner in value.items()} != kinds:
            raise ProviderError("The conversation does not tell how far the script has come.", permanent=True)
        return cls(**value)


@dataclass(frozen=True)
class View:
    turns: Sequence[Turn]
    kind: str

    def position(self) -> Position:
        """After the last reply of the script; another model's replies do not count."""
        for turn in reversed(self.turns):
            if isinstance(turn, Reply) and turn.kind == self.kind:
                return Position.from_json(turn.raw)
        return Position()

    @cached_property
    def picture(self) -> Picture | None:
        """The last one of the whole screen."""
        return next(_pictures(self.turns), None)

    @cached_property
    def fresh(self) -> bool:
        """Whether the screen was shown after the last reply."""
        replies = [number for number, turn in enumerate(self.turns) if isinstance(turn, Reply)]
        return any(_pictures(self.turns[replies[-1] :] if replies else self.turns))

    @cached_property
    def lines(self) -> list[ocr.Line]:
        """Raises ProviderError for a picture that is none, and when text cannot be read here."""
        if self.picture is None:
            return []
        try:
            with Image.open(io.BytesIO(self.picture.data)) as image:
                return ocr.read(Screen.from_rgb(np.asarray(image.convert("RGB"))))
        except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError):
            raise ProviderError("The last picture in the conversation cannot be read.", permanent=True) from None
        except Unavailable as error:
            raise ProviderError(str(error), permanent=True) from None

    @property
    def size(self) -> tuple[int, int]:
        return (self.picture.width, self.picture.height) if self.picture else (0, 0)

    def shows(self, text: str) -> bool:
        return ocr.contains(self.lines, text) is not None

    def said(self, text: str) -> bool:
        """By anybody but the script, at any time: the goal, a note, a hint, a word of the system."""
        parts = [part for turn in self.turns if isinstance(turn, Said) for part in turn.parts]
        return any(_holds(part, text) for part in parts if isinstance(part, str))

    def answered(self, text: str) -> bool:
        return any(_holds(result.text, text) for result in self._results())

    def failed(self) -> bool:
        return any(not result.ok for result in self._results())

    def _results(self) -> tuple[Result, ...]:
        """Of the last calls that the script itself made, not of its looks at the screen."""
        for reply, turn in reversed(list(pairwise(self.turns))):
            if isinstance(reply, Reply) and isinstance(turn, Answered):
                own = reply.kind == self.kind
                if not (own and Position.from_json(reply.raw).looking):
                    return turn.results
        return ()


def _pictures(turns: Sequence[Turn]) -> Iterator[Picture]:
    """Of the whole screen, the last one first."""
    for turn in reversed(turns):
        if isinstance(turn, Said):
            yield from (part for part in reversed(turn.parts) if isinstance(part, Picture))
        elif isinstance(turn, Answered):
            shown = [result.picture for result in turn.results if result.call.name != "zoom"]
            yield from (picture for picture in reversed(shown) if picture)


def _holds(text: str, wanted: str) -> bool:
    return "".join(wanted.split()).casefold() in "".join(text.split()).casefold()
