"""Events that are ready to be written: typed, clean of secrets, and fit for every database."""

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from .events import Actor, Change, Fate, Finding, Kind, Outcome, Sent
from .ledger import now_ms
from .models import Event
from .payloads import CallData, FindingData, Json, ResultData
from .redact import Redactor

NAME = 100


class Drafts:
    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor

    def event(self, kind: Kind, actor: Actor, turn: int, name: str, data: Json, **columns: Any) -> Event:
        (name, data), hidden = self.clean([name, data])
        now = timezone.now()
        return Event(
            kind=kind,
            actor=actor,
            turn=turn,
            name=plain(name, NAME),
            data=data,
            hidden=hidden,
            mono_ms=now_ms(),
            **{"started_at": now, "ended_at": now, **columns},
        )

    def planned(self, call: CallData, turn: int) -> Event:
        columns = {"fate": Fate.PLANNED, "started_at": None, "ended_at": None}
        return self.event(Kind.ACTION, Actor.AGENT, turn, call["name"], call, **columns)

    def clean(self, value: Json) -> tuple[Json, int]:
        """Without secrets, and how many there were."""
        before = self._redactor.hidden
        return self._redactor.json(value), self._redactor.hidden - before


def result_of(text: str, sent: Sent, took_ms: int | None, change: Change | None, settle_ms: int | None) -> ResultData:
    return {
        "text": text,
        "sent": {"text": sent.text, "picture": sent.picture, "ok": sent.ok},
        "took_ms": took_ms,
        "change": {"ratio": change.ratio, "boxes": [list(box) for box in change.boxes]} if change else None,
        "settle_ms": settle_ms,
    }


def finding_data(finding: Finding) -> FindingData:
    return {
        "name": finding.name,
        "type": finding.type,
        "outcome": finding.outcome,
        "expected": finding.expected,
        "actual": finding.actual,
        "region": finding.region,
        "similarity": finding.similarity,
        "detail": finding.detail,
    }


def verdict(findings: Sequence[Finding]) -> bool | None:
    """None when nothing failed, but something could not be checked, or nothing was."""
    outcomes = {finding.outcome for finding in findings}
    if Outcome.FAILED in outcomes:
        return False
    return True if outcomes == {Outcome.PASSED} else None


def plain(text: str, limit: int) -> str:
    """For a column of text, which cannot hold everything that a model can say."""
    whole = text.encode("utf-8", "replace").decode()
    return "".join(character if character.isprintable() else " " for character in whole[:limit])
