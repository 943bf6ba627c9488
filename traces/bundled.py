"""An event as a line of a bundle, and back. What comes back may have been written by an attacker."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, TypedDict

from .archives import shown
from .blobs import HASH
from .errors import BadBundle
from .events import Actor, Fate, Kind, Outcome, Recorded
from .payloads import (
    CallData,
    ErrorData,
    EventId,
    FileData,
    Json,
    JudgeData,
    LimitData,
    MessageData,
    PolicyData,
    ReplyData,
    ResultData,
    Sha256,
    SnapshotData,
    VerifyData,
)
from .shapes import Misshapen, check

COUNT = 2**31
NUMBER = 2**53
PIXELS = 1 << 20
NAME = 100
BRANCH = 40
OP_ID = 64


class EventLine(TypedDict):
    """Events are known by their number: `parent` is one, and so is what `data` says of an action."""

    seq: int
    parent: int | None
    branch: str
    actor: Literal["agent", "human", "system", "verifier"]
    kind: str
    turn: int
    name: str
    data: Json
    fate: str
    ok: bool | None
    op_id: str
    act: Json
    result: ResultData | None
    raw: Json
    before: str | None
    after: str | None
    started_at: str | None
    ended_at: str | None
    hidden: int


DATA: Mapping[Kind, Any] = {
    Kind.ACTION: CallData,
    Kind.VERIFY: VerifyData,
    Kind.SNAPSHOT: SnapshotData,
    Kind.FILE: FileData,
    Kind.LIMIT: LimitData,
    Kind.ERROR: ErrorData,
    Kind.POLICY: PolicyData,
}
WHOLE = ("x", "y", "to_x", "to_y", "button", "count", "down", "right", "repeat")
TEXTS = ("action", "text", "chord", "holding")


def line_of(event: Recorded) -> EventLine:
    return {
        "seq": event.seq,
        "parent": event.parent,
        "branch": event.branch,
        "actor": event.actor.value,
        "kind": event.kind.value,
        "turn": event.turn,
        "name": event.name,
        "data": event.data,
        "fate": event.fate.value,
        "ok": event.ok,
        "op_id": event.op_id,
        "act": event.act,
        "result": event.result,
        "raw": event.raw,
        "before": event.before,
        "after": event.after,
        "started_at": event.started_at.isoformat() if event.started_at else None,
        "ended_at": event.ended_at.isoformat() if event.ended_at else None,
        "hidden": event.hidden,
    }


def event_of(line: Json) -> Recorded:
    """Raises BadBundle, and says which event is wrong and how."""
    seq = line.get("seq") if isinstance(line, dict) else None
    try:
        return _event(line)
    except (Misshapen, ValueError) as problem:
        name = f"Event {seq}" if type(seq) is int else "An event"
        raise BadBundle(f"{name} is not as it must be: {problem}.") from None


def blobs_of(event: Recorded) -> Iterator[Sha256]:
    """Those that pages and models look for."""
    yield from filter(None, (event.before, event.after))
    if event.kind == Kind.MESSAGE:
        yield from (part["picture"] for part in event.data.get("parts", ()) if "picture" in part)
    if event.kind == Kind.FILE:
        yield event.data["sha256"]
    if event.result and event.result["sent"]["picture"]:
        yield event.result["sent"]["picture"]


def moment(value: Json, where: str) -> datetime | None:
    """Raises Misshapen."""
    if value is None:
        return None
    try:
        found = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise Misshapen(f"{where} must be a time") from None
    if found.tzinfo is None or not 1970 <= found.year <= 2200:
        raise Misshapen(f"{where} must be a time with its zone, of this age")
    return found.astimezone(UTC)


def short_text(value: str, longest: int, where: str) -> str:
    """Raises Misshapen for text that no column can hold."""
    if len(value) > longest or not value.isprintable():
        raise Misshapen(f"{where} must be at most {longest} characters that can be shown")
    return value


def _event(line: Json) -> Recorded:
    check(line, EventLine)
    _check_counts(line)
    kind, fate = _member(Kind, line["kind"], "kind"), _member(Fate, line["fate"], "fate")
    if (kind == Kind.ACTION) != (fate != Fate.NONE):
        raise Misshapen("an action must have a fate, and nothing else may")
    _check_data(kind, line["data"])
    _check_act(line["act"])
    _check_result(line["result"])
    event = Recorded(
        id=EventId(line["seq"]),
        seq=line["seq"],
        revision=line["seq"],
        branch=short_text(line["branch"], BRANCH, "branch"),
        parent=line["parent"],
        actor=Actor(line["actor"]),
        kind=kind,
        turn=line["turn"],
        name=short_text(line["name"], NAME, "name"),
        data=line["data"],
        fate=fate,
        ok=line["ok"],
        op_id=short_text(line["op_id"], OP_ID, "op_id"),
        act=line["act"],
        result=line["result"],
        before=line["before"],
        after=line["after"],
        started_at=moment(line["started_at"], "started_at"),
        ended_at=moment(line["ended_at"], "ended_at"),
        hidden=line["hidden"],
        raw=line["raw"],
    )
    for sha256 in blobs_of(event):
        if not HASH.fullmatch(sha256):
            raise Misshapen(f"{shown(sha256)} is no SHA-256")
    return event


def _check_counts(line: Json) -> None:
    if not line["branch"]:
        raise Misshapen("branch must not be empty")
    _within(line["seq"], 1, NUMBER, "seq")
    _within(line["turn"], 0, COUNT, "turn")
    _within(line["hidden"], 0, COUNT, "hidden")


def _check_data(kind: Kind, data: Json) -> None:
    if not isinstance(data, dict):
        raise Misshapen("data must be an object")
    paid = "usage" in data
    if kind == Kind.MESSAGE or (kind == Kind.OBSERVATION and paid):
        check(data, JudgeData if kind == Kind.OBSERVATION else ReplyData if paid else MessageData, "data")
        for name, tokens in data.get("usage", {}).items():
            _within(tokens, 0, NUMBER, f"data.usage.{name}")
        _within(data.get("cost") or 0, 0, NUMBER, "data.cost")
    elif kind in DATA:
        check(data, DATA[kind], "data")
    for finding in data.get("findings", ()) if kind == Kind.VERIFY else ():
        _member(Outcome, finding["outcome"], "data.findings.outcome")


def _check_act(act: Json) -> None:
    if act is None:
        return
    if not isinstance(act, dict):
        raise Misshapen("act must be an object")
    for key in WHOLE:
        if act.get(key) is not None:
            check(act[key], int, f"act.{key}")
            _within(act[key], -PIXELS, PIXELS, f"act.{key}")
    for key in TEXTS:
        check(act.get(key), str | None, f"act.{key}")
    check(act.get("seconds", 0), float, "act.seconds")
    check(act.get("via") or [], list[tuple[int, int]], "act.via")
    _check_pairs(act)


def _check_pairs(act: Json) -> None:
    """A place has both of its numbers, or none."""
    ends = (("to_x", "to_y"),) if act.get("action") == "Drag" else ()
    if any((act.get(x) is None) != (act.get(y) is None) for x, y in (("x", "y"), ("to_x", "to_y"))):
        raise Misshapen("act must have both numbers of a place")
    if any(act.get(x) is None for x, _ in ends):
        raise Misshapen("act must say where a drag ends")


def _check_result(result: Json) -> None:
    for box in ((result or {}).get("change") or {}).get("boxes", ()):
        if len(box) != 4:
            raise Misshapen("result.change.boxes must have 4 numbers each")


def _within(value: Json, least: int, below: int, where: str) -> None:
    if type(value) not in (int, float) or not least <= value < below:
        raise Misshapen(f"{where} must be a number from {least} to {below - 1}")


def _member(kind: Any, value: str, where: str) -> Any:
    try:
        return kind(value)
    except ValueError:
        raise Misshapen(f"{where} is not known: {shown(value)}") from None
