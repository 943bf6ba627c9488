"""Reads the screens of traces, so that what was on them can be found. It takes a core's second or two for each.

It happens in a process of its own that gives way to everything else, one at a time on a host, and for a while only:
whatever is left is read when it comes to the queue again.
"""

import fcntl
import io
import logging
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.util import find_spec

import numpy as np
from django.conf import settings
from django.utils import timezone
from PIL import Image

from sandboxes.display.screen import Screen
from traces import lifecycle, screens, thumbs, words
from traces.errors import Damaged
from traces.models import Trace
from traces.payloads import Sha256
from traces.pictures import FORMATS
from traces.queries import stored

from . import hints, ocr
from .masking import Seen, read_again
from .sharing import known_to
from .vault import redactor_for

log = logging.getLogger(__name__)

SECONDS = 60.0
GRACE = 120.0
AGAIN = 15
RECENT = timedelta(days=1)
FEW = 20
PRIORITY = 15


def ask(trace_id: str, delay: float = 0) -> None:
    """Have the screens of a trace read: harmless when it comes twice."""
    hints.send("read_screens", trace_id, delay=delay)


def leftovers() -> None:
    """The newest trace that has ended, and has screens that nobody has read."""
    recent = Trace.objects.filter(ended_at__gte=timezone.now() - RECENT).order_by("-ended_at")
    found = (trace_id for trace_id in recent.values_list("pk", flat=True)[:FEW] if screens.unread(trace_id))
    trace_id = next(found, None)
    if trace_id is not None and find_spec("rapidocr"):
        _for_a_while(trace_id)


def work(trace_id: str) -> None:
    """Until all is read, a while at a time, so that others come to the queue."""
    if screens.unread(trace_id) and _for_a_while(trace_id):
        ask(trace_id, AGAIN)


def _for_a_while(trace_id: str) -> bool:
    """Whether it makes sense to go on."""
    argv = ["nice", "-n", str(PRIORITY), sys.executable, "-m", "django", "readscreens", trace_id]
    with _alone() as alone:
        if not alone:
            return True
        try:
            return subprocess.run(argv, cwd=settings.BASE_DIR, timeout=SECONDS + GRACE).returncode == 0
        except subprocess.TimeoutExpired:
            log.warning("reading the screens of trace %s took too long", trace_id)
            return False


@contextmanager
def _alone() -> Iterator[bool]:
    path = settings.HOST.run / "reading.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def read(trace_id: str, seconds: float = SECONDS) -> int:
    """At least one screen; how many are left after so long. Raises Unavailable when this host cannot read text."""
    deadline = time.monotonic() + seconds
    words.update(trace_id)
    redactor = redactor_for(known_to(trace_id))
    last: Seen | None = None
    left = screens.unread(trace_id)
    while left:
        sha256 = left.pop(0)
        seen = _seen(sha256, last)
        spots = [(line.text, *line.box) for line in seen.lines] if seen else []
        screens.store_read(sha256, spots, redactor)
        last = seen or last
        if time.monotonic() > deadline:
            break
    lifecycle.touch(trace_id)
    return len(left)


def _seen(sha256: Sha256, last: Seen | None) -> Seen | None:
    """None for what is no picture. Screens that follow each other are alike: only what differs is read again."""
    try:
        thumbs.thumbnail(sha256)
        screen = _screen(sha256)
    except Damaged as error:
        log.warning("screen %s: %s", sha256, error)
        return None
    if last and last.screen.size == screen.size:
        return Seen(screen, read_again(screen, last))
    return Seen(screen, tuple(ocr.read(screen)))


def _screen(sha256: Sha256) -> Screen:
    """Raises Damaged."""
    kept = stored(sha256)
    try:
        with Image.open(io.BytesIO(kept.data), formats=[FORMATS[kept.media_type]]) as picture:
            return Screen.from_rgb(np.asarray(picture.convert("RGB")))
    except (KeyError, OSError, SyntaxError, ValueError, Image.DecompressionBombError):
        raise Damaged("It is no picture.") from None
