"""The newest steps of a run, drawn once for all who watch it: what a socket sends, and a page puts in its place."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from channels.db import database_sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string

from agents.models import Run

from .pages.task_view import RunView, Shown

STEPS = 6
GATHER_SECONDS = 0.01
REST_SECONDS = 0.1
"""A step is written in several parts, and heard of by many at once: who asks first waits for others, and longer when
one was drawn just now."""


def drawn(run_id: str, branch: str) -> str:
    """Raises Run.DoesNotExist, and Http404 for a branch that is not there.

    `more` says that there were steps before these. With another `rest`, more of the page has changed than its steps.
    """
    run = Run.objects.select_related("task", "trace").get(pk=run_id)
    view = RunView(AnonymousUser(), run, branch, most=STEPS)
    shown = {
        "revision": run.trace.revision,
        "rest": view.rest,
        "regions": {name: _part(name, view=view) for name in ("doing", "gauges", "intent")},
        "steps": [_step(Known(one.step.id, one.step.event.revision, one.number, one)) for one in view.steps],
        "more": len(view.known_steps) > STEPS,
    }
    return json.dumps({"type": "trace.changed", "id": run.trace_id, "shown": shown})


@dataclass(frozen=True)
class Known:
    """A step as it is at a revision of its event looks the same for ever."""

    event: int
    revision: int
    number: int | None
    shown: Shown = field(compare=False)


@lru_cache(maxsize=2000)
def _step(known: Known) -> dict[str, str]:
    shown = known.shown
    return {"act": _part("act", shown=shown), "frame": _part("frame", shown=shown) if shown.thumb else ""}


def _part(name: str, **context: Any) -> str:
    return render_to_string(f"tasks/_{name}.html", context)


class Shared:
    """Who asks before a drawing begins gets that one, who asks later the next."""

    def __init__(self, draw: Callable[[str, str], str]) -> None:
        self._draw = draw
        self._next: dict[tuple[str, str], asyncio.Task[str]] = {}
        self._drawn_at: dict[tuple[str, str], float] = {}

    async def ask(self, run_id: str, branch: str) -> str:
        key = run_id, branch
        if key not in self._next:
            self._next[key] = asyncio.create_task(self._drawn(key))
        return await asyncio.shield(self._next[key])

    async def _drawn(self, key: tuple[str, str]) -> str:
        rested = time.monotonic() - self._drawn_at.get(key, 0.0)
        await asyncio.sleep(max(GATHER_SECONDS, REST_SECONDS - rested))
        del self._next[key]
        self._drawn_at = {one: at for one, at in self._drawn_at.items() if time.monotonic() - at < REST_SECONDS}
        self._drawn_at[key] = time.monotonic()
        return await database_sync_to_async(self._draw)(*key)


newest = Shared(drawn)
