"""What an export will hold, known before it is made."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

from django.db.models import Count, Q, QuerySet, Sum

from .errors import NotPossible
from .events import Actor, Kind
from .export.base import Exporter, Scope, Size
from .models import Blob, Event, Trace
from .payloads import EventId
from .tree import Node, Tree

TEXT = 400
"""Bytes that the words of a step take."""


@dataclass(frozen=True)
class Part:
    """What people choose: a branch, or all; and of its steps those from `first` to `last`, counted as pages do."""

    branch: str = ""
    first: int | None = None
    last: int | None = None


@dataclass(frozen=True)
class Branch:
    """`passed` is what the last checks on it said, None when there were none, or they could not tell."""

    name: str
    steps: int
    passed: bool | None


class Row(NamedTuple):
    id: EventId
    parent: EventId | None
    branch: str
    seq: int
    kind: str
    actor: str
    ok: bool | None
    before: str
    after: str


class Shape:
    """Which steps there are, and where. Read once for each revision: a page that shows progress asks every second."""

    def __init__(self, trace_id: str) -> None:
        columns = ("pk", "parent_id", "branch", "seq", "kind", "actor", "ok", "before", "after")
        rows = [Row(*row) for row in Event.objects.filter(trace=trace_id).order_by("seq").values_list(*columns)]
        asked = {row.parent for row in rows if row.kind == Kind.ACTION}
        replies = {row.id for row in rows if row.kind == Kind.MESSAGE and row.actor == Actor.AGENT}
        self.steps = {row.id: row for row in rows if row.id not in asked & replies}
        self._tree = Tree(Node(row.id, row.parent, row.branch, row.seq) for row in rows)
        self.lanes = {lane.branch: lane for lane in self._tree.lanes()}

    def path(self, branch: str) -> list[Row]:
        return [self.steps[pk] for pk in self._tree.path(self.lanes[branch].last) if pk in self.steps]

    @cached_property
    def branches(self) -> list[Branch]:
        return [_branch(branch, self.path(branch)) for branch in self.lanes]

    def best(self) -> str:
        """The branch whose checks passed last, else the first."""
        passed = [row.branch for row in self.steps.values() if row.kind == Kind.VERIFY and row.ok]
        return passed[-1] if passed else next(iter(self.lanes))


def branches_of(trace: Trace) -> list[Branch]:
    """Raises NotPossible for an empty trace."""
    return _shape(trace.pk, trace.revision).branches


def scope_of(trace: Trace, part: Part) -> Scope:
    """A part begins after the step before it, so that the reply which asked for its first action comes along.

    Raises NotPossible for a branch or steps that do not exist.
    """
    shape = _shape(trace.pk, trace.revision)
    if not part.branch:
        if part.first or part.last:
            raise NotPossible("Choose the branch whose steps you mean.")
        return Scope()
    if part.branch not in shape.lanes:
        raise NotPossible(f"There is no branch “{part.branch}” in this trace.")
    path = shape.path(part.branch)
    first, last = part.first or 1, part.last or len(path)
    if not 1 <= first <= last <= len(path):
        raise NotPossible(f"Choose steps from 1 to {len(path)}, the first one before the last.")
    begins = path[first - 2].seq + 1 if first > 1 else 0
    return Scope(part.branch, begins, path[last - 1].seq if part.last else 0)


def size_of(trace: Trace, scope: Scope, kind: type[Exporter]) -> Size:
    """Of what this kind of export would show."""
    return _size(trace.pk, trace.revision, scope, kind.one_branch)


@lru_cache(4)
def _shape(trace_id: str, revision: int) -> Shape:
    if not revision:
        raise NotPossible("There is nothing in this trace yet.")
    return Shape(trace_id)


@lru_cache(64)
def _size(trace_id: str, revision: int, scope: Scope, one_branch: bool) -> Size:
    shape = _shape(trace_id, revision)
    branch = scope.branch or (shape.best() if one_branch else "")
    steps = shape.path(branch) if branch else list(shape.steps.values())
    inside = [row for row in steps if scope.first <= row.seq <= (scope.last or row.seq)]
    count, pictures, others = _bytes(trace_id, inside if branch else ())
    return Size(len(inside), count, pictures, others + TEXT * len(inside))


def _bytes(trace_id: str, steps: Sequence[Row]) -> tuple[int, int, int]:
    """How many pictures, their bytes, and those of all other files. Without steps, those of the whole trace."""
    blobs = Blob.objects.filter(references__trace=trace_id)
    seen = Q(width__isnull=False)
    if steps:
        shas = list({sha256 for row in steps for sha256 in (row.before, row.after) if sha256})
        parts = [_counted(blobs.filter(seen, pk__in=shas[start : start + 500])) for start in range(0, len(shas), 500)]
    else:
        parts = [_counted(blobs.filter(seen))]
    others = blobs.exclude(seen).aggregate(size=Sum("size"))["size"] or 0
    return sum(part[0] for part in parts), sum(part[1] for part in parts), others


def _counted(blobs: QuerySet[Blob]) -> tuple[int, int]:
    found = blobs.aggregate(count=Count("pk"), size=Sum("size"))
    return found["count"], found["size"] or 0


def _branch(name: str, path: Sequence[Row]) -> Branch:
    verdicts = [row.ok for row in path if row.kind == Kind.VERIFY]
    return Branch(name, len(path), verdicts[-1] if verdicts else None)
