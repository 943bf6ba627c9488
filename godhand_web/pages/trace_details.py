"""All that is known about one step, for the tabs beside its picture."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import Any

from traces.events import Actor, Kind, Recorded
from traces.models import Blob, Event, Remark, ScreenText
from traces.outline import backwards, stretches
from traces.payloads import Json, Sha256
from traces.screens import screen_text
from traces.storage import default_store

from .trace_steps import Card

LONGEST = 20_000
PREVIEW = 2_000
PICTURES = ("image/webp", "image/png", "image/jpeg", "image/gif")
TEXTS = ("application/json", "application/xml", "application/x-sh", "application/javascript", "application/toml")


@dataclass(frozen=True)
class Told:
    """Something new in the request to the model."""

    title: str
    text: str
    picture: Sha256 | None = None
    ok: bool = True


@dataclass(frozen=True)
class Handed:
    """A file that came in or out on the way to the step. `here`: at this very step."""

    seq: int
    name: str
    path: str
    out: bool
    here: bool
    blob: Blob | None

    @property
    def is_picture(self) -> bool:
        return self.blob is not None and self.blob.media_type in PICTURES

    @property
    def text(self) -> str:
        """The beginning of what can be read; its bytes are hostile, so nothing but text is made of them."""
        if self.blob is None or not (self.blob.media_type.startswith("text/") or self.blob.media_type in TEXTS):
            return ""
        try:
            with default_store().path_of(self.blob.pk, self.blob.media_type).open("rb") as file:
                return file.read(PREVIEW).decode("utf-8", "replace")
        except OSError:
            return ""


@dataclass(frozen=True)
class Details:
    trace_id: str
    card: Card

    @property
    def event(self) -> Recorded:
        return self.card.step.event

    @property
    def result(self) -> Json:
        return self.event.result or {}

    @property
    def findings(self) -> Sequence[Json]:
        return list(self.event.data.get("findings", ())) if self.event.kind == Kind.VERIFY else []

    @cached_property
    def reply(self) -> Recorded | None:
        """What the model said before it asked for this action, or this very step."""
        event = self.event
        if is_reply(event):
            return event
        if event.kind != Kind.ACTION:
            return None
        return next((one for one in self._way.before(event) if is_reply(one)), None)

    @property
    def paid(self) -> Json:
        """What tokens and money were spent on: the reply, or a judge's answer."""
        if self.reply:
            return self.reply.data
        return self.event.data if self.event.kind == Kind.OBSERVATION else {}

    @cached_property
    def reasoning(self) -> str:
        return str(self.reply.data.get("reasoning") or "") if self.reply else ""

    @cached_property
    def said(self) -> str:
        return str(self.reply.data.get("text") or "") if self.reply else ""

    @cached_property
    def model_ms(self) -> int | None:
        """From what happened before to the reply."""
        if self.reply is None or self.reply.ended_at is None:
            return None
        before = next(self._way.before(self.reply), None)
        if before is None or before.ended_at is None:
            return None
        return max(0, round((self.reply.ended_at - before.ended_at).total_seconds() * 1000))

    @cached_property
    def told(self) -> list[Told]:
        """What was new in the request: all since the reply before. The rest of the conversation went along."""
        if self.reply is None:
            return []
        found: list[Told] = []
        for event in self._way.before(self.reply):
            if is_reply(event):
                break
            found[:0] = list(told_by(event))
        return found

    @cached_property
    def raw(self) -> str:
        """The reply as its provider gave it."""
        if self.reply is None:
            return ""
        return pretty(Event.objects.filter(pk=self.reply.id).values_list("raw", flat=True).first())

    @property
    def call(self) -> str:
        data = self.event.data
        if self.event.kind == Kind.POLICY:
            meant = Event.objects.filter(pk=data.get("action")).values_list("seq", flat=True).first()
            data = {**data, "action": meant}
        return pretty({"asked": data, "done": self.event.act} if self.event.act else data)

    @property
    def words(self) -> str:
        """What was read on the screen after the step."""
        return self._read.text if self._read else ""

    @property
    def spots(self) -> list[list[int]]:
        """Where it was read: x, y, width and height of each."""
        return [list(spot[1:]) for spot in self._read.spots] if self._read else []

    @cached_property
    def _read(self) -> ScreenText | None:
        return screen_text(self.card.after) if self.card.after else None

    @cached_property
    def files(self) -> list[Handed]:
        """All that came in or out on the path, the newest first."""
        parts = list(stretches(self.trace_id, self.event.branch, self.event.seq))
        events = (
            Event.objects.filter(trace=self.trace_id, kind=Kind.FILE)
            .order_by("-seq")
            .values_list("branch", "seq", "data")
        )
        mine = [(seq, data) for branch, seq, data in events if any(branch == b and seq <= last for b, last in parts)]
        blobs = Blob.objects.in_bulk([data["sha256"] for _, data in mine])
        return [self._handed(seq, data, blobs.get(data["sha256"])) for seq, data in mine]

    @cached_property
    def remarks(self) -> list[Remark]:
        return list(Remark.objects.filter(event=self.event.id).select_related("author"))

    def _handed(self, seq: int, data: Any, blob: Blob | None) -> Handed:
        return Handed(seq, data["name"], data["path"], data["direction"] == "out", seq == self.event.seq, blob)

    @cached_property
    def _way(self) -> "Way":
        return Way(backwards(self.trace_id, self.event.branch, self.event.seq))


class Way:
    """The events before one, each read once however often they are walked along."""

    def __init__(self, events: Iterator[Recorded]) -> None:
        self._events = events
        self._read: list[Recorded] = []

    def before(self, event: Recorded) -> Iterator[Recorded]:
        for place in count():
            if place == len(self._read):
                following = next(self._events, None)
                if following is None:
                    return
                self._read.append(following)
            if self._read[place].seq < event.seq:
                yield self._read[place]


def is_reply(event: Recorded) -> bool:
    return event.kind == Kind.MESSAGE and event.actor == Actor.AGENT


def told_by(event: Recorded) -> Iterator[Told]:
    if event.kind == Kind.MESSAGE:
        for part in event.data.get("parts", ()):
            yield Told(event.name, cut(str(part.get("text", ""))), part.get("picture"))
    sent = (event.result or {}).get("sent")
    if event.kind == Kind.ACTION and sent:
        yield Told(f"answer to {event.name}", cut(sent["text"]), sent.get("picture"), bool(sent["ok"]))


def pretty(value: Json) -> str:
    return "" if value is None else cut(json.dumps(value, indent=2, ensure_ascii=False))


def cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}\n… {len(text) - LONGEST:,} more characters"
