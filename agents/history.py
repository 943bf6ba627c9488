"""A path of a trace as a conversation: what a branch that forks off, or a worker that takes over, goes on from."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from traces.events import Fate, Kind, Recorded
from traces.payloads import EventId, Sha256
from traces.redact import HIDDEN

from .budget import Spent
from .turns import Answered, Call, Part, Picture, Reply, Result, Said, Turn, Usage
from .verify import Moment

PictureOf = Callable[[Sha256], Picture]


@dataclass
class Planned:
    """A call of the last reply, and how far it has come."""

    id: EventId
    call: Call
    fate: Fate = Fate.PLANNED
    op_id: str = ""
    result: Result | None = None
    hidden: bool = False
    """Part of what was asked for was a secret, and is not there any more."""


@dataclass
class Conversation:
    """`pending` are the calls of the last reply until what they mean for the task has been seen to."""

    turns: list[Turn] = field(default_factory=list)
    pending: list[Planned] = field(default_factory=list)
    replies: int = 0
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    claims: int = 0

    def said(self, *parts: Part) -> None:
        self.turns.append(Said(parts))

    def replied(self, reply: Reply, actions: Iterable[EventId]) -> None:
        self.turns.append(reply)
        self.pending = [Planned(action, call) for action, call in zip(actions, reply.calls, strict=True)]
        self.replies += 1
        self.paid(reply.usage, reply.cost)

    def answered(self) -> None:
        """Every pending call has its result now."""
        results = tuple(planned.result for planned in self.pending if planned.result is not None)
        if self.pending:
            self.turns.append(Answered(results))
        self.pending = []

    def settle(self) -> None:
        """Nothing is left to be seen to if every pending call has its result."""
        if all(planned.result for planned in self.pending):
            self.answered()

    def paid(self, usage: Usage, cost: float | None) -> None:
        self.usage += usage
        self.cost += cost or 0.0

    def spent(self, minutes: float) -> Spent:
        return Spent(self.steps, minutes, self.usage.total, self.cost)


def rebuild(events: Iterable[Recorded], picture_of: PictureOf) -> Conversation:
    """The conversation of a path from the root, to the byte; from where a secret was hidden on, in other words.

    A service takes its own reply back only after the very conversation that it belongs to.
    """
    talk, exact = Conversation(), True
    for event in events:
        exact = exact and not event.hidden
        if event.kind is Kind.ACTION:
            _add_action(talk, event, picture_of)
        elif event.kind is Kind.MESSAGE and event.name == "reply":
            talk.answered()
            talk.replied(_reply(event if exact else replace(event, raw=None)), ())
        elif event.kind is Kind.MESSAGE:
            talk.answered()
            talk.said(*(_part(part, picture_of) for part in event.data["parts"]))
        elif event.kind is Kind.VERIFY and event.name == Moment.STEP:
            talk.settle()
        elif event.kind is Kind.OBSERVATION and "usage" in event.data:
            talk.paid(Usage(**event.data["usage"]), event.data["cost"])
    return talk


def _reply(event: Recorded) -> Reply:
    data = event.data
    return Reply(
        text=data["text"],
        reasoning=data["reasoning"],
        usage=Usage(**data["usage"]),
        cost=data["cost"],
        kind=data["provider"] if event.raw is not None else "",
        model=data["model"],
        raw=event.raw,
    )


def _add_action(talk: Conversation, event: Recorded, picture_of: PictureOf) -> None:
    """The reply was read without its calls, which come one by one."""
    call = Call(event.data["id"], event.data["name"], event.data["input"], event.data["toolset"])
    place = next(number for number in range(len(talk.turns) - 1, -1, -1) if isinstance(talk.turns[number], Reply))
    reply = talk.turns[place]
    assert isinstance(reply, Reply)
    talk.turns[place] = Reply(**{**vars(reply), "calls": (*reply.calls, call)})
    result = _result(call, event.result, picture_of) if event.result else None
    hidden = bool(event.hidden) and HIDDEN in json.dumps(event.data["input"])
    talk.pending.append(Planned(event.id, call, event.fate, event.op_id, result, hidden))
    talk.steps += event.started_at is not None
    talk.claims += call.name == "done" and event.fate is Fate.DONE


def _result(call: Call, data: Mapping[str, Any], picture_of: PictureOf) -> Result:
    sent = data["sent"]
    return Result(call, sent["text"], picture_of(sent["picture"]) if sent["picture"] else None, sent["ok"])


def _part(part: Mapping[str, Any], picture_of: PictureOf) -> Part:
    return picture_of(part["picture"]) if "picture" in part else str(part["text"])
