"""Events as people read them: a path of steps, each with what was thought, done and seen."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from .events import Actor, Fate, Kind, Outcome, Recorded
from .payloads import EventId, Sha256
from .sentences import icon, sentence

Corners = tuple[int, int, int, int]
POINTED = ("Click", "Move", "MouseDown", "MouseUp", "Scroll")


class Status(StrEnum):
    """OPEN: not closed yet. NEUTRAL: nothing that could go well or badly."""

    OK = "ok"
    FAILED = "failed"
    OPEN = "open"
    UNCERTAIN = "uncertain"
    REFUSED = "refused"
    NEUTRAL = "neutral"


@dataclass(frozen=True)
class Marks:
    """What is drawn on the picture, in its pixels. Two points or more are the path of a drag.

    `irreversible` is the class of what has left the machine: no fork undoes it. Mostly it is empty.
    """

    points: tuple[tuple[int, int], ...] = ()
    typed: str = ""
    changed: tuple[Corners, ...] = ()
    irreversible: str = ""


UNMARKED = Marks()


@dataclass(frozen=True)
class Step:
    """An event, and what belongs to it.

    A reply that asks for actions is no step of its own: `thought` and `said` are what the model thought and said
    before this action, and `reply` is that event. `parent` is the step before, on the path.
    """

    event: Recorded
    parent: EventId | None
    reply: EventId | None
    thought: str
    said: str
    status: Status
    marks: Marks

    @property
    def id(self) -> EventId:
        return self.event.id

    @property
    def seq(self) -> int:
        return self.event.seq

    @property
    def branch(self) -> str:
        return self.event.branch

    @property
    def kind(self) -> Kind:
        return self.event.kind

    @property
    def sentence(self) -> str:
        return sentence(self.event)

    @property
    def icon(self) -> str:
        return icon(self.event)

    @property
    def by_person(self) -> bool:
        return self.event.actor == Actor.HUMAN

    @property
    def before(self) -> Sha256 | None:
        return self.event.before or self.event.after or self._told

    @property
    def after(self) -> Sha256 | None:
        return self.event.after or self.event.before or self._told

    @property
    def at(self) -> datetime | None:
        return self.event.ended_at or self.event.started_at

    @property
    def took_ms(self) -> int | None:
        return (self.event.result or {}).get("took_ms")

    @property
    def _told(self) -> Sha256 | None:
        """The picture that a message carried."""
        parts = self.event.data.get("parts", ()) if self.event.kind == Kind.MESSAGE else ()
        return next((part["picture"] for part in parts if "picture" in part), None)


def steps_of(events: Iterable[Recorded]) -> list[Step]:
    """Of a path, of all branches, or of a part: in order of seq. What is asked of events outside is left out."""
    folded: dict[EventId, Recorded] = {}
    steps = []
    ordered = sorted(events, key=lambda event: event.seq)
    asked = {event.parent for event in ordered if event.kind == Kind.ACTION}
    replies: dict[EventId, Recorded] = {}
    for event in ordered:
        reply = replies.get(event.parent) if event.parent is not None else None
        if event.kind == Kind.MESSAGE and event.actor == Actor.AGENT and event.id in asked:
            folded[event.id] = event
            replies[event.id] = event
            continue
        if event.kind != Kind.ACTION:
            reply = None
        elif reply is not None:
            replies[event.id] = reply
        steps.append(_step(event, reply, folded))
    return steps


def _step(event: Recorded, reply: Recorded | None, folded: dict[EventId, Recorded]) -> Step:
    own = event.data if event.kind == Kind.MESSAGE else {}
    said = reply.data if reply else own
    return Step(
        event=event,
        parent=_unfolded(event.parent, folded),
        reply=reply.id if reply else None,
        thought=str(said.get("reasoning") or ""),
        said=str(said.get("text") or ""),
        status=status_of(event),
        marks=_marks(event),
    )


def _unfolded(parent: EventId | None, folded: dict[EventId, Recorded]) -> EventId | None:
    while parent is not None and parent in folded:
        parent = folded[parent].parent
    return parent


FATES = {
    Fate.PLANNED: Status.OPEN,
    Fate.INTENT: Status.OPEN,
    Fate.UNCERTAIN: Status.UNCERTAIN,
    Fate.REFUSED: Status.REFUSED,
}
TROUBLE = (Kind.ERROR, Kind.POLICY, Kind.LIMIT)


def status_of(event: Recorded) -> Status:
    if event.fate in FATES:
        return FATES[event.fate]
    if event.kind == Kind.VERIFY:
        outcomes = {finding["outcome"] for finding in event.data["findings"]}
        if Outcome.FAILED in outcomes:
            return Status.FAILED
        return Status.UNCERTAIN if Outcome.ERRORED in outcomes else Status.OK
    if event.kind in TROUBLE or event.ok is False:
        return Status.FAILED
    return Status.OK if event.ok else Status.NEUTRAL


def _marks(event: Recorded) -> Marks:
    if event.act is None and event.result is None:
        return UNMARKED
    act: dict[str, Any] = event.act or {}
    change = (event.result or {}).get("change") or {}
    return Marks(
        points=_points(act),
        typed=str(act.get("text") or act.get("chord") or ""),
        changed=tuple((x, y, width, height) for x, y, width, height in change.get("boxes", ())),
        irreversible=str(act.get("irreversible") or ""),
    )


def _points(act: dict[str, Any]) -> tuple[tuple[int, int], ...]:
    start = ((act["x"], act["y"]),) if act.get("x") is not None else ()
    if act.get("action") == "Drag":
        return (*start, *((x, y) for x, y in act.get("via") or ()), (act["to_x"], act["to_y"]))
    return start if act.get("action") in POINTED else ()
