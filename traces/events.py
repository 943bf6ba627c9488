"""The vocabulary of a trace, and the one way to write it.

A trace is a tree of events. Every branch of it is a line: an event has one successor on its own branch, and others
only on branches that begin there. What a path from the root holds is enough to rebuild its conversation exactly.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import BinaryIO, Literal, NamedTuple, Protocol

from .payloads import CallData, EventId, Json, Part, Sha256, UsageData

VERSION = 1


class Actor(StrEnum):
    AGENT = "agent"
    HUMAN = "human"
    SYSTEM = "system"
    VERIFIER = "verifier"


class Kind(StrEnum):
    """A reply of the model is a message of the agent."""

    MESSAGE = "message"
    ACTION = "action"
    OBSERVATION = "observation"
    VERIFY = "verify"
    SNAPSHOT = "snapshot"
    FORK = "fork"
    SELECT = "select"
    TAKEOVER = "takeover"
    FILE = "file"
    LIMIT = "limit"
    ERROR = "error"
    POLICY = "policy"


class Fate(StrEnum):
    """Of an action. Every other event happened when it was written, and has none."""

    NONE = ""
    PLANNED = "planned"
    INTENT = "intent"
    DONE = "done"
    UNCERTAIN = "uncertain"
    REFUSED = "refused"


BEFORE: Mapping[Fate, tuple[Fate, ...]] = {
    Fate.INTENT: (Fate.PLANNED,),
    Fate.DONE: (Fate.INTENT,),
    Fate.UNCERTAIN: (Fate.INTENT,),
    Fate.REFUSED: (Fate.PLANNED, Fate.INTENT),
}
"""What an action may have been before it becomes this."""


class Outcome(StrEnum):
    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"


@dataclass(frozen=True)
class Sent:
    """Exactly what the model was answered for a call; `ok` as it was told."""

    text: str
    picture: Sha256 | None = None
    ok: bool = True


@dataclass(frozen=True)
class Change:
    """How two pictures differ: the share of pixels, and boxes of x, y, width and height around them."""

    ratio: float
    boxes: Sequence[tuple[int, int, int, int]] = ()


@dataclass(frozen=True)
class Finding:
    """What a check found. A check that could not be carried out has errored, and has not failed."""

    name: str
    type: str
    outcome: Outcome
    expected: str = ""
    actual: str = ""
    region: tuple[int, int, int, int] | None = None
    similarity: float | None = None
    detail: str = ""


class Replied(NamedTuple):
    """The event of the reply, and one for each of its calls, in their order."""

    reply: EventId
    actions: tuple[EventId, ...]


@dataclass(frozen=True)
class Recorded:
    """An event as it was read back. `raw` is read for whole paths only, and is None elsewhere.

    `hidden` is how many secrets were.
    """

    id: EventId
    seq: int
    revision: int
    branch: str
    parent: EventId | None
    actor: Actor
    kind: Kind
    turn: int
    name: str
    data: Json
    fate: Fate
    ok: bool | None
    op_id: str
    act: Json
    result: Json
    before: Sha256 | None
    after: Sha256 | None
    started_at: datetime | None
    ended_at: datetime | None
    hidden: int
    raw: Json = field(default=None, repr=False)


class Recorder(Protocol):
    """Writes one branch of a trace. Every method is one transaction: all of it is stored, or nothing.

    All raise Fenced when another has taken over the branch, and DiskFull. `turn` counts the replies of the model on
    the path, from 0 before the first; what names none belongs to the turn of the event before it.
    """

    @property
    def head(self) -> EventId | None:
        """The last event of the branch: what follows is written after it. Before a fork's first, where it begins."""

    def message(self, actor: Actor, text: str, *, turn: int, parts: Sequence[Part] = (), name: str = "note") -> EventId:
        """From outside the model: `name` says whether it is the goal, a note, a hint. No parts: the text alone."""

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
        """To be stored before acting. Every call becomes a planned action.

        `raw` comes back as it went in, down to the order of its keys; when a secret had to be hidden in it, it is not
        stored, and comes back as None.
        """

    def intent(self, action: EventId, op_id: str, act: Json = None) -> None:
        """To be stored just before an action begins. `act` is what will be done, in pixels of the screen.

        Raises Closed when it is not planned any more.
        """

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
        """It happened; `ok` says whether as wanted. Raises Closed when there was no intent, or an end already."""

    def uncertain(self, action: EventId, text: str, *, sent: Sent | None = None, after: Sha256 | None = None) -> None:
        """It was begun, and nobody knows whether it happened. Raises Closed, as `done` does.

        The model is answered with the text, as a failure, unless `sent` says otherwise.
        """

    def refused(self, action: EventId, text: str, *, sent: Sent | None = None) -> None:
        """It was not carried out. The model is answered as by `uncertain`. Raises Closed when it had ended."""

    def verify(self, findings: Sequence[Finding], when: str, *, picture: Sha256 | None = None) -> EventId: ...

    def judged(self, *, usage: UsageData, cost: float | None, provider: str, model: str) -> EventId:
        """A model was asked for its opinion; what that cost counts as a reply's does."""

    def snapshot(self, *, snapshot: str, backend: str, keeps: str, size: int, ms: int, label: str = "") -> EventId: ...

    def file(
        self, *, name: str, path: str, direction: Literal["in", "out"], sha256: Sha256, actor: Actor = Actor.AGENT
    ) -> EventId:
        """A file that came into the machine, or out of it. Its bytes were given to `blob` before."""

    def limit(self, name: str, text: str, *, allowed: float, used: float) -> EventId: ...

    def error(self, name: str, text: str, *, permanent: bool) -> EventId: ...

    def policy(self, name: str, text: str, *, action: EventId | None = None) -> EventId:
        """The rule `name` forbade something."""

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
        """Anything else. `pictures` are those that `data` names."""

    def picture(self, data: bytes, media_type: str, width: int, height: int, *, exact: bool = False) -> Sha256:
        """Keep a picture. PNG becomes lossless WebP, which is smaller; `exact` keeps the very bytes.

        It is part of the trace from the first event on that names it.
        """

    def blob(self, data: bytes | BinaryIO, media_type: str) -> Sha256:
        """Keep any bytes, as they are."""
