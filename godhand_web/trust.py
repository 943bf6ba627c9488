"""Whether those who watch a run still may: a login that ended, or a right taken away, is noticed in seconds."""

import asyncio
from collections.abc import Mapping
from types import SimpleNamespace
from typing import cast

from channels.db import database_sync_to_async
from django.contrib.auth import get_user
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest

from .access import visible_runs

TRUSTED_SECONDS = 5.0
GATHER_SECONDS = 0.01

Question = tuple[str, str]
"""The key of a session, and the id of a run."""


class Trust:
    """All who watch a run hear of a step at once: they are answered together, by one look at the database."""

    def __init__(self) -> None:
        self._asked: dict[Question, SessionBase] = {}
        self._answers: asyncio.Task[dict[Question, bool]] | None = None

    async def ask(self, session: SessionBase, run_id: str) -> bool:
        question = session.session_key or "", run_id
        self._asked[question] = session
        self._answers = self._answers or asyncio.create_task(self._answered())
        return (await asyncio.shield(self._answers))[question]

    async def _answered(self) -> dict[Question, bool]:
        await asyncio.sleep(GATHER_SECONDS)
        asked, self._asked, self._answers = self._asked, {}, None
        return await database_sync_to_async(answers)(asked)


def answers(asked: Mapping[Question, SessionBase]) -> dict[Question, bool]:
    sessions = {key: session for (key, _), session in asked.items()}
    seen = {key: _seen(session, {run for of, run in asked if of == key}) for key, session in sessions.items()}
    return {(key, run): run in seen[key] for key, run in asked}


def _seen(session: SessionBase, run_ids: set[str]) -> set[str]:
    if not session.session_key or not session.exists(session.session_key):
        return set()
    person = get_user(cast(HttpRequest, SimpleNamespace(session=session)))
    return set(visible_runs(person).filter(pk__in=run_ids).values_list("pk", flat=True))


trust = Trust()
