"""Log lines without secrets. Every process formats its lines here, tracebacks included."""

import logging
import re
from collections import deque
from collections.abc import Iterable

from .known import of_this_process
from .redact import Redactor

TOLD = 200
LINK = re.compile(r"gh_share_[\w-]+")


class _Known:
    """The process's own for good, and the last that it was told."""

    def __init__(self) -> None:
        self.own = of_this_process()
        self.told: deque[str] = deque(maxlen=TOLD)
        self.redactor = Redactor(self.own)

    def add(self, secrets: Iterable[str]) -> None:
        if fresh := [secret for secret in secrets if secret not in self.told]:
            self.told.extend(fresh)
            self.redactor = Redactor([*self.own, *self.told])


_known = _Known()


def remember(secrets: Iterable[str]) -> None:
    """From now on no line of this process shows them."""
    _known.add(secrets)


class CleanFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return LINK.sub("gh_share_…", _known.redactor.text(super().format(record)))
