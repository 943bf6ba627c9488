"""Two paths of steps beside each other: what they share, where they part, what only one of them did."""

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby, takewhile
from typing import Any

from .events import Actor, Kind, Outcome, Recorded
from .lcs import common_subsequence
from .payloads import EventId
from .steps import Step

LONGEST = 3000
"""Steps of a path after the common ones that are compared; what comes later is counted, not shown."""

GRID = 24
REACH = 0.03
"""How far apart two points may be to count as one, as a share of the screen."""

WHERE = ("action", "x", "y", "to_x", "to_y", "via")


class Kin(StrEnum):
    """SAME: the same was done, and it went the same way. CHANGED: the same kind of thing, not the same."""

    SAME = "same"
    CHANGED = "changed"
    ONLY_A = "only-a"
    ONLY_B = "only-b"


@dataclass(frozen=True)
class Path:
    """From the root to a head. `size` is that of the screen; `targets` says what is written where a step points."""

    steps: Sequence[Step]
    size: tuple[int, int] = (1280, 800)
    targets: Mapping[EventId, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    kin: Kin
    a: Step | None
    b: Step | None


@dataclass(frozen=True)
class Comparison:
    """`shared` are the common ancestors. `left_out` counts, for each path, the steps beyond the longest comparison."""

    shared: Sequence[Step]
    rows: Sequence[Row]
    left_out: tuple[int, int] = (0, 0)

    @property
    def first_divergence(self) -> int | None:
        """An index of `rows`; None when both did the same."""
        return next((index for index, row in enumerate(self.rows) if row.kin != Kin.SAME), None)

    def count(self, kin: Kin) -> int:
        return sum(row.kin == kin for row in self.rows)


@dataclass(frozen=True)
class Sums:
    """What a path took. `seconds` leaves out the time between a fork's place and its beginning.

    `cost` is None when no reply has a known price. `passed` is of the last `checks`, and None when there were none.
    """

    steps: int
    seconds: float
    tokens: int
    cost: float | None
    passed: int | None
    checks: int


def compare(a: Path, b: Path, longest: int = LONGEST) -> Comparison:
    together = sum(1 for _ in takewhile(lambda pair: pair[0].id == pair[1].id, zip(a.steps, b.steps, strict=False)))
    ours, theirs = a.steps[together:], b.steps[together:]
    rows = _rows(_Side(ours[:longest], a), _Side(theirs[:longest], b))
    left_out = (max(0, len(ours) - longest), max(0, len(theirs) - longest))
    return Comparison(a.steps[:together], list(rows), left_out)


class _Side:
    """The steps of one path, as they are told apart."""

    def __init__(self, steps: Sequence[Step], path: Path) -> None:
        self.steps = steps
        self.verbs: list[Hashable] = [verb(step) for step in steps]
        self.words = [_words(step) for step in steps]
        self.targets = [path.targets.get(step.id, "") for step in steps]
        self.points = [_points(step, path.size) for step in steps]

    def keys(self) -> list[Hashable]:
        """Where a step points is what is written there, or else a field of a coarse grid."""
        return [
            (said, words, target or tuple((int(x * GRID), int(y * GRID)) for x, y in points))
            for said, words, target, points in zip(self.verbs, self.words, self.targets, self.points, strict=True)
        ]


def _rows(a: _Side, b: _Side) -> Iterator[Row]:
    """Between two equal steps those of the same kind are paired, and the others stand alone, A's first."""
    whole = (range(len(a.steps)), range(len(b.steps)))
    for of_a, of_b, equal in _stretches(*whole, a.keys(), b.keys()):
        for only_a, only_b, alike in _stretches(of_a, of_b, a.verbs, b.verbs):
            yield from (Row(Kin.ONLY_A, a.steps[at], None) for at in only_a)
            yield from (Row(Kin.ONLY_B, None, b.steps[at]) for at in only_b)
            yield from (_pair(a, b, *pair) for pair in alike)
        yield from (_pair(a, b, *pair) for pair in equal)


def _stretches(
    of_a: range, of_b: range, keys_a: Sequence[Hashable], keys_b: Sequence[Hashable]
) -> Iterator[tuple[range, range, list[tuple[int, int]]]]:
    """What has no counterpart, and then the pair that has: none after the last."""
    done_a, done_b = 0, 0
    for to_a, to_b in common_subsequence([keys_a[at] for at in of_a], [keys_b[at] for at in of_b]):
        yield of_a[done_a:to_a], of_b[done_b:to_b], [(of_a[to_a], of_b[to_b])]
        done_a, done_b = to_a + 1, to_b + 1
    yield of_a[done_a:], of_b[done_b:], []


def _pair(a: _Side, b: _Side, at_a: int, at_b: int) -> Row:
    step_a, step_b = a.steps[at_a], b.steps[at_b]
    named = a.targets[at_a] != "" and a.targets[at_a] == b.targets[at_b]
    there = named or _near(a.points[at_a], b.points[at_b])
    same = there and a.words[at_a] == b.words[at_b] and step_a.status == step_b.status
    return Row(Kin.SAME if same else Kin.CHANGED, step_a, step_b)


def written_at(spots: Sequence[Sequence[Any]], x: int, y: int) -> str:
    """What is written there: each spot is a text with its x, y, width and height. The smallest counts."""
    there = [
        (width * height, str(text))
        for text, left, top, width, height in spots
        if left <= x < left + width and top <= y < top + height
    ]
    return min(there)[1] if there else ""


def verb(step: Step) -> tuple[str, str]:
    """The kind of a step: two of one kind can be compared."""
    event = step.event
    if event.kind == Kind.ACTION:
        return event.kind, str((event.act or {}).get("action") or event.name)
    if event.kind == Kind.FILE:
        return event.kind, str(event.data.get("direction", ""))
    return event.kind, event.name if event.kind == Kind.MESSAGE else ""


def _words(step: Step) -> str:
    """What was asked for, without where. Ids of machines and snapshots differ always, so they say nothing."""
    event = step.event
    if event.kind == Kind.OBSERVATION:
        return ""
    if event.kind != Kind.ACTION:
        return step.sentence if event.kind != Kind.MESSAGE or event.actor == Actor.AGENT else str(event.data["text"])
    act: dict[str, Any] = event.act or {}
    given = {name: value for name, value in act.items() if name not in WHERE} if act else event.data.get("input")
    return json.dumps(given, sort_keys=True, default=str)


def _points(step: Step, size: tuple[int, int]) -> list[tuple[float, float]]:
    width, height = size
    return [(x / max(1, width), y / max(1, height)) for x, y in step.marks.points]


def _near(ours: Sequence[tuple[float, float]], theirs: Sequence[tuple[float, float]]) -> bool:
    return len(ours) == len(theirs) and all(
        abs(x - other_x) <= REACH and abs(y - other_y) <= REACH
        for (x, y), (other_x, other_y) in zip(ours, theirs, strict=True)
    )


def sums_of(events: Sequence[Recorded]) -> Sums:
    """Of a path, replies and all."""
    replies = [event.data for event in events if event.kind in (Kind.MESSAGE, Kind.OBSERVATION)]
    costs = [reply["cost"] for reply in replies if reply.get("cost") is not None]
    findings: Sequence[Mapping[str, Any]] = next(
        (event.data["findings"] for event in reversed(events) if event.kind == Kind.VERIFY), []
    )
    return Sums(
        steps=sum(event.kind == Kind.ACTION and event.started_at is not None for event in events),
        seconds=sum(_seconds(list(stretch)) for _, stretch in groupby(events, key=lambda event: event.branch)),
        tokens=sum(sum((reply.get("usage") or {}).values()) for reply in replies),
        cost=sum(costs) if costs else None,
        passed=sum(finding["outcome"] == Outcome.PASSED for finding in findings) if findings else None,
        checks=len(findings),
    )


def _seconds(stretch: Sequence[Recorded]) -> float:
    times = [at for event in stretch for at in (event.started_at, event.ended_at) if at is not None]
    return (max(times) - min(times)).total_seconds() if times else 0.0
