"""What is secret by now is hidden in what was stored before anybody knew: on the way out, and on the way in."""

from collections.abc import Callable
from dataclasses import replace

from .events import Recorded
from .known import of_this_process
from .payloads import Json
from .pictures import FORMATS, Mask, Masked
from .redact import Redactor

LARGEST_FILE = 64 << 20


class Cleaner:
    """`hidden` counts what was. Without a `mask`, pictures stay as they are."""

    def __init__(self, redactor: Redactor, mask: Mask | None = None) -> None:
        self._redactor = redactor
        self._mask = mask
        self._hidden_in_pictures = 0

    @property
    def hidden(self) -> int:
        return self._redactor.hidden + self._hidden_in_pictures

    def clean(self, event: Recorded) -> Recorded:
        """A reply of the provider's in which something had to be hidden is no use any more, and is left out."""
        before = self._redactor.hidden
        name, data, act, result = self.json([event.name, event.data, event.act, event.result])
        seen = self._redactor.hidden
        raw = self.json(event.raw)
        if self._redactor.hidden > seen:
            raw = None
        hidden = event.hidden + self._redactor.hidden - before
        return replace(event, name=name, data=data, act=act, result=result, raw=raw, hidden=hidden)

    def looks_at(self, media_type: str, size: int) -> bool:
        """Whether `clean_blob` would read such bytes at all."""
        if media_type in FORMATS:
            return self._mask is not None
        return self._redactor.knows_any and size <= LARGEST_FILE

    def clean_blob(self, data: bytes, media_type: str) -> Masked:
        """A picture, or a file with text in it. `hidden` is 0 when it may stay as it is."""
        if media_type in FORMATS:
            return self.clean_picture(data, media_type)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return Masked(data, media_type)
        before = self._redactor.hidden
        clean = self._redactor.text(text)
        return Masked(clean.encode(), media_type, self._redactor.hidden - before)

    def clean_picture(self, data: bytes, media_type: str) -> Masked:
        masked = self._mask(data, media_type) if self._mask else Masked(data, media_type)
        self._hidden_in_pictures += masked.hidden
        return masked

    def json(self, value: Json) -> Json:
        return self._redactor.json(value)


CleanerFor = Callable[[str], Cleaner]
"""From the id of a trace, or an empty one for what comes from outside."""


def usual(trace_id: str) -> Cleaner:
    return Cleaner(Redactor(of_this_process()))
