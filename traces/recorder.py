"""Writes what happens to the database, as the loop tells it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, BinaryIO, Literal

from django.utils import timezone

from .blobs import BlobStore
from .drafts import Drafts, finding_data, plain, result_of, verdict
from .events import Actor, Change, Fate, Finding, Kind, Replied, Sent
from .ledger import Guard, Ledger, now_ms
from .models import Blob, Event, Trace
from .payloads import (
    CallData,
    ErrorData,
    EventId,
    FileData,
    Json,
    JudgeData,
    LimitData,
    MessageData,
    Part,
    PolicyData,
    ReplyData,
    Sha256,
    SnapshotData,
    UsageData,
    VerifyData,
)
from .pictures import Mask, compact
from .redact import Redactor
from .storage import default_store

MEDIA_TYPE = 100


class DatabaseRecorder:
    """A Recorder; what each method does and raises is written there.

    `guard` runs first in every transaction, and raises Fenced when the branch belongs to somebody else. `head` is the
    event to write after: the branch's last, the one where it forks off, or None for the root of an empty trace.
    """

    def __init__(
        self,
        trace: Trace,
        branch: str,
        guard: Guard,
        head: EventId | None,
        *,
        redactor: Redactor | None = None,
        mask: Mask | None = None,
        blobs: BlobStore | None = None,
    ) -> None:
        """Raises ValueError when `head` is no event of the trace. `mask` sees every picture before it is stored."""
        self._ledger = Ledger(trace.pk, branch, guard, head)
        self._drafts = Drafts(redactor or Redactor(()))
        self._blobs = blobs or default_store()
        self._mask = mask
        self._masked: dict[Sha256, int] = {}
        self._turn = _turn_of(trace, head)
        self._begun: dict[EventId, int] = {}

    @property
    def head(self) -> EventId | None:
        return self._ledger.head

    def message(self, actor: Actor, text: str, *, turn: int, parts: Sequence[Part] = (), name: str = "note") -> EventId:
        data: MessageData = {"text": text, "parts": list(parts) or [{"text": text}]}
        self._turn = turn
        pictures = [part["picture"] for part in parts if "picture" in part]
        return self._append(Kind.MESSAGE, actor, name, data, pictures)

    def reply(
        self,
        raw: Json,
        *,
        turn: int,
        text: str,
        reasoning: str,
        usage: UsageData,
        cost: float | None,
        provider: str,
        model: str,
        calls: Sequence[CallData],
    ) -> Replied:
        data: ReplyData = {
            "text": text,
            "reasoning": reasoning,
            "usage": usage,
            "cost": cost,
            "provider": provider,
            "model": model,
        }
        clean, hidden = self._drafts.clean(raw)
        columns = {"raw": None if hidden else clean, "tokens": _tokens(usage), "cost": cost or 0}
        said = self._drafts.event(Kind.MESSAGE, Actor.AGENT, turn, "reply", data, **columns)
        said.hidden += hidden
        reply, *actions = self._ledger.append([said, *(self._drafts.planned(call, turn) for call in calls)])
        self._turn = turn
        return Replied(reply, tuple(actions))

    def intent(self, action: EventId, op_id: str, act: Json = None) -> None:
        clean, hidden = self._drafts.clean(act)
        begun = now_ms()
        columns = {"op_id": op_id, "act": clean, "started_at": timezone.now(), "mono_ms": begun}
        self._ledger.move(action, Fate.INTENT, hidden=hidden, **columns)
        self._begun[action] = begun

    def done(
        self,
        action: EventId,
        *,
        ok: bool,
        text: str,
        sent: Sent,
        before: Sha256 | None = None,
        after: Sha256 | None = None,
        change: Change | None = None,
        settle_ms: int | None = None,
    ) -> None:
        result = result_of(text, sent, self._took(action), change, settle_ms)
        self._close(
            action, Fate.DONE, result, [before, after, sent.picture], ok=ok, before=before or "", after=after or ""
        )

    def uncertain(self, action: EventId, text: str, *, sent: Sent | None = None, after: Sha256 | None = None) -> None:
        told = sent or Sent(text, ok=False)
        result = result_of(text, told, self._took(action), None, None)
        self._close(action, Fate.UNCERTAIN, result, [after, told.picture], after=after or "")

    def refused(self, action: EventId, text: str, *, sent: Sent | None = None) -> None:
        told = sent or Sent(text, ok=False)
        result = result_of(text, told, self._took(action), None, None)
        self._close(action, Fate.REFUSED, result, [told.picture], ok=False)

    def verify(self, findings: Sequence[Finding], when: str, *, picture: Sha256 | None = None) -> EventId:
        data: VerifyData = {"when": when, "findings": [finding_data(finding) for finding in findings]}
        columns = {"ok": verdict(findings), "after": picture or ""}
        return self._append(Kind.VERIFY, Actor.VERIFIER, when, data, [picture], **columns)

    def judged(self, *, usage: UsageData, cost: float | None, provider: str, model: str) -> EventId:
        text = f"A judge was asked: {_tokens(usage):,} tokens"
        data = JudgeData(text=text, usage=usage, cost=cost, provider=provider, model=model)
        tokens, dollars = _tokens(usage), cost or 0
        return self._append(Kind.OBSERVATION, Actor.VERIFIER, "judge", data, tokens=tokens, cost=dollars)

    def snapshot(self, *, snapshot: str, backend: str, keeps: str, size: int, ms: int, label: str = "") -> EventId:
        data = SnapshotData(snapshot=snapshot, backend=backend, keeps=keeps, label=label, size=size, ms=ms)
        return self._append(Kind.SNAPSHOT, Actor.SYSTEM, snapshot, data)

    def file(
        self, *, name: str, path: str, direction: Literal["in", "out"], sha256: Sha256, actor: Actor = Actor.AGENT
    ) -> EventId:
        data = FileData(name=name, path=path, direction=direction, sha256=sha256)
        return self._append(Kind.FILE, actor, name, data, [sha256])

    def limit(self, name: str, text: str, *, allowed: float, used: float) -> EventId:
        return self._append(Kind.LIMIT, Actor.SYSTEM, name, LimitData(text=text, allowed=allowed, used=used))

    def error(self, name: str, text: str, *, permanent: bool) -> EventId:
        return self._append(Kind.ERROR, Actor.SYSTEM, name, ErrorData(text=text, permanent=permanent), ok=False)

    def policy(self, name: str, text: str, *, action: EventId | None = None) -> EventId:
        return self._append(Kind.POLICY, Actor.SYSTEM, name, PolicyData(text=text, action=action), ok=False)

    def event(
        self,
        kind: Kind,
        actor: Actor,
        data: Mapping[str, Json],
        *,
        name: str = "",
        pictures: Sequence[Sha256] = (),
        before: Sha256 | None = None,
        after: Sha256 | None = None,
        change: Change | None = None,
    ) -> EventId:
        columns: dict[str, Any] = {"before": before or "", "after": after or ""}
        if change:
            columns["result"] = result_of("", Sent(""), None, change, None)
        return self._append(kind, actor, name, data, [*pictures, before, after], **columns)

    def picture(self, data: bytes, media_type: str, width: int, height: int, *, exact: bool = False) -> Sha256:
        hidden = 0
        if self._mask:
            data, media_type, hidden = self._mask(data, media_type)
        if not exact:
            data, media_type = compact(data, media_type)
        sha256 = self._keep(data, media_type, width=width, height=height)
        if hidden:
            self._masked[sha256] = hidden
        return sha256

    def blob(self, data: bytes | BinaryIO, media_type: str) -> Sha256:
        return self._keep(data, media_type)

    def _append(
        self,
        kind: Kind,
        actor: Actor,
        name: str,
        data: Json,
        blobs: Iterable[Sha256 | None] = (),
        **columns: Any,
    ) -> EventId:
        named = list(blobs)
        draft = self._drafts.event(kind, actor, self._turn, name, data, **columns)
        draft.hidden += self._hidden_in(named)
        return self._ledger.append([draft], named)[0]

    def _close(self, action: EventId, fate: Fate, result: Json, blobs: Iterable[Sha256 | None], **columns: Any) -> None:
        clean, hidden = self._drafts.clean(result)
        named = list(blobs)
        hidden += self._hidden_in(named)
        self._ledger.move(action, fate, named, hidden=hidden, result=clean, ended_at=timezone.now(), **columns)
        self._begun.pop(action, None)

    def _hidden_in(self, blobs: Iterable[Sha256 | None]) -> int:
        return sum(self._masked.get(sha256, 0) for sha256 in {*blobs} if sha256)

    def _took(self, action: EventId) -> int | None:
        return now_ms() - self._begun[action] if action in self._begun else None

    def _keep(self, data: bytes | BinaryIO, media_type: str, **sides: int) -> Sha256:
        media_type = plain(media_type, MEDIA_TYPE)
        sha256, size = self._blobs.add(data, media_type)
        self._ledger.give(Blob(sha256=sha256, media_type=media_type, size=size, **sides))
        return sha256


def _turn_of(trace: Trace, head: EventId | None) -> int:
    if head is None:
        return 0
    turn = Event.objects.filter(pk=head, trace=trace).values_list("turn", flat=True).first()
    if turn is None:
        raise ValueError(f"Event {head} does not belong to trace {trace.pk}.")
    return turn


def _tokens(usage: UsageData) -> int:
    return usage["input"] + usage["output"] + usage["cache_read"] + usage["cache_write"]
