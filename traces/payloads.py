"""What the events of each kind hold, as JSON. A changed shape is a new VERSION, with a step in `upgrade.py`."""

from typing import Any, Literal, NewType, TypedDict, final

EventId = NewType("EventId", int)
Sha256 = NewType("Sha256", str)
Json = Any


@final
class TextPart(TypedDict):
    text: str


@final
class PicturePart(TypedDict):
    picture: Sha256


Part = TextPart | PicturePart


class UsageData(TypedDict):
    """Tokens. `input` does not count what was read from or written to a cache."""

    input: int
    output: int
    cache_read: int
    cache_write: int


class CallData(TypedDict):
    """As the model gave it: `input` has the model's own coordinates."""

    id: str
    name: str
    input: Json
    toolset: str


class MessageData(TypedDict):
    """`text` is for people, `parts` is what a model is told."""

    text: str
    parts: list[Part]


class ReplyData(TypedDict):
    """`cost` is in dollars; None when the price is not known. `provider` understands the event's `raw`."""

    text: str
    reasoning: str
    usage: UsageData
    cost: float | None
    provider: str
    model: str


class JudgeData(TypedDict):
    """A reply that is no turn of the conversation: what a judge was asked for is in the verdict."""

    text: str
    usage: UsageData
    cost: float | None
    provider: str
    model: str


class SentData(TypedDict):
    text: str
    picture: Sha256 | None
    ok: bool


class ChangeData(TypedDict):
    ratio: float
    boxes: list[list[int]]


class ResultData(TypedDict):
    """`took_ms` is None when the action was begun by another process than the one that closed it."""

    text: str
    sent: SentData
    took_ms: int | None
    change: ChangeData | None
    settle_ms: int | None


class FindingData(TypedDict):
    name: str
    type: str
    outcome: str
    expected: str
    actual: str
    region: tuple[int, int, int, int] | None
    similarity: float | None
    detail: str


class VerifyData(TypedDict):
    when: str
    findings: list[FindingData]


class SnapshotData(TypedDict):
    snapshot: str
    backend: str
    keeps: str
    label: str
    size: int
    ms: int


class FileData(TypedDict):
    name: str
    path: str
    direction: Literal["in", "out"]
    sha256: Sha256


class LimitData(TypedDict):
    text: str
    allowed: float
    used: float


class ErrorData(TypedDict):
    text: str
    permanent: bool


class PolicyData(TypedDict):
    text: str
    action: EventId | None
