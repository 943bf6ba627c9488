"""An invented story as events, in the very shape in which a recorder leaves them when all is over."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random
from typing import Any

from ..drafts import Drafts, finding_data, result_of, verdict
from ..events import Actor, Change, Fate, Kind, Sent
from ..models import Event
from ..payloads import CallData, EventId, Json, Sha256
from ..redact import Redactor
from .scenery import SIZE
from .story import GOAL, NOTES, Deed, Story

PRICE = 3e-6


@dataclass(frozen=True)
class Told:
    """How far a branch is: its last event, the replies so far, the time, and what the screen shows."""

    head: EventId | None
    turn: int
    clock: datetime
    screen: Sha256


class Book:
    """All events of a trace. `places` are where a branch may begin: every call before is answered there."""

    def __init__(self, trace_id: str, ids: Iterable[int], random: Random) -> None:
        self.random = random
        self.events: list[Event] = []
        self.files: dict[Sha256, tuple[bytes, str]] = {}
        self.places: list[Told] = []
        self.drafts = Drafts(Redactor(()))
        self._trace_id, self._ids, self._revision = trace_id, iter(ids), 0

    def add(self, branch: str, parent: EventId | None, event: Event) -> EventId:
        event.id, event.trace_id, event.branch, event.parent_id = next(self._ids), self._trace_id, branch, parent
        event.seq, event.revision = len(self.events) + 1, self.revise()
        self.events.append(event)
        return EventId(event.id)

    def revise(self) -> int:
        self._revision += 1
        return self._revision


class Teller:
    """Writes one branch, until it has as many steps as it should."""

    def __init__(
        self, book: Book, name: str, story: Story, pictures: Sequence[Sha256], place: Told, steps: int
    ) -> None:
        self.book, self.name, self.story, self.pictures, self.left = book, name, story, pictures, steps
        self.head, self.turn, self.clock, self.screen = place.head, place.turn, place.clock, place.screen

    @property
    def over(self) -> bool:
        return self.left == 0

    def begin(self) -> None:
        self._note(Kind.OBSERVATION, Actor.SYSTEM, "machine", {"machine": "k3v9d2m8q1xa"})
        self._file("invoices.zip", "in", Actor.HUMAN)
        parts = [{"text": GOAL}, {"picture": self.screen}]
        self._note(Kind.MESSAGE, Actor.HUMAN, "goal", {"text": GOAL, "parts": parts})

    def fork(self) -> None:
        text = "You are one of several branches of this task. Go on from here this way: begin with the largest invoice."
        self._note(Kind.MESSAGE, Actor.SYSTEM, "hint", {"text": text, "parts": [{"text": text}]})

    def go_on(self) -> None:
        """A turn, and what comes between turns now and then; at last the end."""
        if self.left <= 2:
            self._end()
            return
        self._reply(self.story.turn()[: self.left - 2])
        chance = self.book.random.random()
        if self.left > 2:
            if chance < 0.02:
                self._verify("step", all_pass=False)
            elif chance < 0.035:
                self._snapshot()
            elif chance < 0.04:
                text = self.book.random.choice(NOTES)
                self._note(Kind.MESSAGE, Actor.HUMAN, "note", {"text": text, "parts": [{"text": text}]})
            elif chance < 0.044:
                self._file(f"sales-{self.turn}.ods", "out", Actor.AGENT)
            elif chance < 0.046:
                self._note(Kind.TAKEOVER, Actor.HUMAN, "takeover", {"text": "Took over for 42 s", "seconds": 42})
        self.book.places.append(Told(self.head, self.turn, self.clock, self.screen))

    def _end(self) -> None:
        if self.left == 2:
            claim = Deed("done", {"claim": "All invoices are in."}, "Every row is there.", text="Claimed.")
            self._reply([claim])
        self._verify("done", all_pass=self.book.random.random() < 0.7)

    def _note(self, kind: Kind, actor: Actor, name: str, data: Json, **columns: Any) -> None:
        times = {"started_at": self.clock, "ended_at": self.clock}
        event = self.book.drafts.event(kind, actor, self.turn, name, data, **times, **columns)
        self._append(event)
        self._pass(0.2)
        self.left -= 1

    def _append(self, event: Event) -> None:
        event.mono_ms = int(self.clock.timestamp() * 1000) % 10**9
        self.head = self.book.add(self.name, self.head, event)

    def _pass(self, seconds: float) -> None:
        self.clock += timedelta(seconds=seconds)

    def _reply(self, deeds: Sequence[Deed]) -> None:
        random = self.book.random
        self._pass(random.uniform(1.5, 6))
        self.turn += 1
        reasoning = self.story.reasoning(list(deeds))
        calls = [_call(deed, f"toolu_{random.getrandbits(96):024x}") for deed in deeds]
        usage = {"input": random.randrange(900, 3000), "output": random.randrange(60, 400)}
        usage |= {"cache_read": min(190_000, 1500 * self.turn), "cache_write": random.randrange(800, 2500)}
        tokens = sum(usage.values())
        data = {"text": deeds[0].thought, "reasoning": reasoning, "usage": usage, "cost": tokens * PRICE}
        data |= {"provider": "scripted", "model": "invented"}
        times = {"started_at": self.clock, "ended_at": self.clock, "tokens": tokens, "cost": tokens * PRICE}
        raw = _raw(reasoning, deeds[0].thought, calls, f"{random.getrandbits(1600):0400x}")
        self._append(self.book.drafts.event(Kind.MESSAGE, Actor.AGENT, self.turn, "reply", data, raw=raw, **times))
        planned = [self.book.drafts.planned(call, self.turn) for call in calls]
        for event in planned:
            self._append(event)
        for event, deed in zip(planned, deeds, strict=True):
            self._carry_out(event, deed)
            self.left -= 1

    def _carry_out(self, event: Event, deed: Deed) -> None:
        took = self.book.random.randrange(30, 900)
        event.fate, event.ok = deed.fate, None if deed.fate == Fate.UNCERTAIN else deed.ok
        if deed.fate != Fate.REFUSED:
            event.op_id, event.act = f"{self.book.random.getrandbits(128):032x}", dict(deed.act)
            event.started_at, event.mono_ms = self.clock, int(self.clock.timestamp() * 1000) % 10**9
            self.book.revise()
        before, change = self.screen, None
        if deed.fate == Fate.DONE:
            self.screen = before if deed.shot is None else self.pictures[deed.shot]
            event.before, event.after = before, self.screen
            change = self._change(deed, before)
        elif deed.fate == Fate.UNCERTAIN:
            event.after = self.screen
        shown = self.screen if deed.toolset and deed.fate != Fate.REFUSED else None
        begun = None if deed.fate == Fate.REFUSED else took
        settle = took // 2 if deed.act and deed.fate == Fate.DONE else None
        event.result = result_of(deed.text, Sent(deed.text, shown, deed.ok), begun, change, settle)
        self._pass(took / 1000)
        event.ended_at, event.revision = self.clock, self.book.revise()

    def _change(self, deed: Deed, before: Sha256) -> Change:
        box = self.story.box(deed)
        if box is None or before == self.screen:
            return Change(0.0)
        return Change(box[2] * box[3] / (SIZE[0] * SIZE[1]) / 3, [box])

    def _verify(self, when: str, *, all_pass: bool) -> None:
        findings = list(self.story.findings(all_pass=all_pass))
        data = {"when": when, "findings": [finding_data(finding) for finding in findings]}
        self._note(Kind.VERIFY, Actor.VERIFIER, when, data, ok=verdict(findings), after=self.screen)

    def _snapshot(self) -> None:
        number, random = f"{self.book.random.getrandbits(60):012x}"[:12], self.book.random
        label = random.choice(("", "", f"before region {random.randrange(6) + 1}"))
        data: dict[str, Any] = {"snapshot": number, "backend": "gvisor", "keeps": "disk+memory", "label": label}
        data |= {"size": random.randrange(10**7, 10**8), "ms": random.randrange(200, 900)}
        self._note(Kind.SNAPSHOT, Actor.SYSTEM, number, data)

    def _file(self, name: str, direction: str, actor: Actor) -> None:
        content = f"{name} as of turn {self.turn}".encode()
        sha256 = Sha256(hashlib.sha256(content).hexdigest())
        self.book.files[sha256] = (content, "application/octet-stream")
        data = {"name": name, "path": f"/home/agent/{name}", "direction": direction, "sha256": sha256}
        self._note(Kind.FILE, actor, name, data)


def _call(deed: Deed, number: str) -> CallData:
    return {"id": number, "name": deed.name, "input": json.loads(json.dumps(deed.given)), "toolset": deed.toolset}


def _raw(reasoning: str, text: str, calls: Sequence[CallData], signature: str) -> Json:
    thinking = {"type": "thinking", "thinking": reasoning, "signature": signature}
    uses = [{"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["input"]} for call in calls]
    return {"role": "assistant", "content": [thinking, {"type": "text", "text": text}, *uses]}
