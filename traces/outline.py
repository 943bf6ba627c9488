"""The shape of a whole trace, read cheaply: which steps there are, how they ended, and who follows whom.

Words and most data are left out, so that a trace of tens of thousands of steps opens at once: what a page shows of a
step is read for the few that are in view.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, NamedTuple

from django.db.models import Exists, Min, OuterRef, Q, QuerySet

from .events import Actor, Fate, Kind, Recorded
from .models import Event, Trace
from .payloads import EventId, Json, Sha256
from .queries import events_up_to
from .steps import UNMARKED, Step, status_of
from .tree import Lane, Node, Tree

CHUNK = 8
ACTORS = {actor.value: actor for actor in Actor}
KINDS = {kind.value: kind for kind in Kind}
FATES = {fate.value: fate for fate in Fate}
READ_WHOLE = (Kind.VERIFY, Kind.SNAPSHOT, Kind.SELECT)
"""Few, and their data decide how the tree looks."""


class Fork(NamedTuple):
    """Where a branch leaves another: after the event `seq` of `branch`."""

    branch: str
    seq: int


def steps_only(events: QuerySet[Event]) -> QuerySet[Event]:
    """Without the replies that ask for actions: those are told with their actions."""
    asked = Event.objects.filter(parent=OuterRef("pk"), kind=Kind.ACTION)
    return events.exclude(Q(kind=Kind.MESSAGE, actor=Actor.AGENT) & Exists(asked))


def forks_of(trace_id: str) -> dict[str, Fork]:
    """Of every branch but the one with the root."""
    events = Event.objects.filter(trace=trace_id)
    firsts = events.order_by().values("branch").annotate(first=Min("seq")).values("first")
    found = events.filter(seq__in=list(firsts.values_list("first", flat=True)), parent__isnull=False)
    rows = found.values_list("branch", "parent__branch", "parent__seq").order_by("seq")
    return {branch: Fork(parent, seq) for branch, parent, seq in rows}


def fork_of(trace_id: str, branch: str) -> Fork | None:
    """None for the branch with the root."""
    first = Event.objects.filter(trace=trace_id, branch=branch).order_by("seq")
    parent, seq = first.values_list("parent__branch", "parent__seq").first() or (None, None)
    return None if parent is None or seq is None else Fork(parent, seq)


def stretches(trace_id: str, branch: str, upto: int) -> Iterator[Fork]:
    """The path to an event, backwards: each branch that it leads along, with the last event there."""
    part: Fork | None = Fork(branch, upto)
    while part is not None:
        yield part
        part = fork_of(trace_id, part.branch)


def number_of(trace_id: str, branch: str, seq: int) -> int:
    """The place of a step on its path, as `Outline.numbers` has it, without the rest of the trace."""
    events = Event.objects.filter(trace=trace_id)
    parts = stretches(trace_id, branch, seq)
    return sum(steps_only(events.filter(branch=part, seq__lte=last)).count() for part, last in parts)


def backwards(trace_id: str, branch: str, upto: int) -> Iterator[Recorded]:
    """The events of the path to an event, that one first."""
    for part, seq in stretches(trace_id, branch, upto):
        while events := events_up_to(trace_id, part, seq, CHUNK):
            yield from events
            seq = events[-1].seq - 1


@dataclass(frozen=True)
class Outline:
    """`steps` are those of all branches in order of seq, without words. They follow each other, not replies."""

    steps: list[Step]

    @cached_property
    def by_seq(self) -> Mapping[int, Step]:
        return {step.seq: step for step in self.steps}

    @cached_property
    def by_id(self) -> Mapping[EventId, Step]:
        return {step.id: step for step in self.steps}

    @cached_property
    def numbers(self) -> Mapping[EventId, int]:
        """The place of every step on its path, from 1 on."""
        numbers: dict[EventId, int] = {}
        for step in self.steps:
            numbers[step.id] = numbers[step.parent] + 1 if step.parent is not None else 1
        return numbers

    @cached_property
    def lanes(self) -> list[Lane]:
        """From the ends of the branches and where they fork off: lanes need no more."""
        firsts: dict[str, Step] = {}
        lasts: dict[str, Step] = {}
        for step in self.steps:
            firsts.setdefault(step.branch, step)
            lasts[step.branch] = step
        forks = [self.by_id[step.parent] for step in firsts.values() if step.parent is not None]
        needed = {step.id: step for step in (*firsts.values(), *lasts.values(), *forks)}
        return Tree(Node(step.id, step.parent, step.branch, step.seq) for step in needed.values()).lanes()

    @cached_property
    def forked(self) -> Mapping[EventId, int]:
        """How many branches begin after each step at which any does."""
        counts: dict[EventId, int] = {}
        for lane in self.lanes:
            if lane.forked_at is not None:
                counts[lane.forked_at] = counts.get(lane.forked_at, 0) + 1
        return counts

    def path(self, branch: str) -> list[Step]:
        """From the root to the last step of the branch; empty when there is no such branch."""
        own = [step for step in self.steps if step.branch == branch]
        if not own or own[0].parent is None:
            return own
        fork = self.by_id[own[0].parent]
        return [*(step for step in self.path(fork.branch) if step.seq <= fork.seq), *own]

    def head(self, branch: str) -> Step | None:
        return next((step for step in reversed(self.steps) if step.branch == branch), None)


class Shelf:
    """The outlines that were read last, so that a page and all that it asks for read them once."""

    def __init__(self, room: int) -> None:
        """`room` is in steps."""
        self._room = room
        self._kept: OrderedDict[tuple[str, int], Outline] = OrderedDict()
        self._lock = Lock()

    def take(self, trace: Trace) -> Outline:
        """As it was at the revision of this row, or later."""
        key = (trace.pk, trace.revision)
        found = self._kept.get(key) or read(trace.pk)
        with self._lock:
            self._kept[key] = found
            self._kept.move_to_end(key)
            while len(self._kept) > 1 and sum(len(kept.steps) for kept in self._kept.values()) > self._room:
                self._kept.popitem(last=False)
        return found


outline = Shelf(100_000).take


def read(trace_id: str) -> Outline:
    events = Event.objects.filter(trace=trace_id)
    columns = ("pk", "branch", "seq", "revision", "actor", "kind", "name", "fate", "ok", "before", "after")
    rows: Iterable[Any] = steps_only(events).order_by("seq").values_list(*columns).iterator(10_000)
    whole = dict(events.filter(kind__in=READ_WHOLE).values_list("pk", "data"))
    lines = _Lines(forks_of(trace_id))
    return Outline([_step(_light(row, lines.follow(*row[:3]), whole)) for row in rows])


def _step(event: Recorded) -> Step:
    return Step(event, event.parent, None, "", "", status_of(event), UNMARKED)


class _Lines:
    """Every branch is a line, so what a step follows is the last one of its branch, or the one it forked off at."""

    def __init__(self, forks: Mapping[str, Fork]) -> None:
        self._forks = forks
        self._seqs: dict[str, list[int]] = {}
        self._ids: dict[str, list[EventId]] = {}

    def follow(self, pk: EventId, branch: str, seq: int) -> EventId | None:
        """What the step follows; it is the last of its branch from now on."""
        before = self._ids[branch][-1] if branch in self._ids else self._forked_at(branch)
        self._seqs.setdefault(branch, []).append(seq)
        self._ids.setdefault(branch, []).append(pk)
        return before

    def _forked_at(self, branch: str) -> EventId | None:
        while branch in self._forks:
            branch, seq = self._forks[branch]
            if place := bisect_right(self._seqs.get(branch, ()), seq):
                return self._ids[branch][place - 1]
        return None


def _light(row: Any, parent: EventId | None, whole: Mapping[int, Json]) -> Recorded:
    pk, branch, seq, revision, actor, kind, name, fate, ok, before, after = row
    return Recorded(
        id=EventId(pk),
        seq=seq,
        revision=revision,
        branch=branch,
        parent=parent,
        actor=ACTORS[actor],
        kind=KINDS[kind],
        turn=0,
        name=name,
        data=whole.get(pk, {}),
        fate=FATES[fate],
        ok=ok,
        op_id="",
        act=None,
        result=None,
        before=Sha256(before) if before else None,
        after=Sha256(after) if after else None,
        started_at=None,
        ended_at=None,
        hidden=0,
    )
