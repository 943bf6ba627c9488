"""The tree of a trace as rows beside lanes: what matters stands alone, straight runs are one row each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from traces.events import Kind, Outcome
from traces.gutter import LANE, RADIUS, ROW, Stroke
from traces.outline import Outline
from traces.payloads import EventId
from traces.queries import events_at
from traces.rows import Row, rows
from traces.steps import Status, Step, steps_of

from .trace_branches import BranchCard
from .trace_links import Wanted

MOST_ROWS = 120
PITCH, WIDEST = 16, 80
"""Pixels of a lane, and of all of them: more than five move closer together."""


@dataclass(frozen=True)
class Badge:
    """One that is `brief` shows its word to who points at it. `score` is always shown."""

    tone: str
    icon: str
    word: str
    brief: bool = False
    score: str = ""


STATUSES = {
    Status.FAILED: Badge("fail", "circle-x", "failed", brief=True),
    Status.UNCERTAIN: Badge("wait", "circle-question-mark", "uncertain", brief=True),
    Status.REFUSED: Badge("wait", "shield-ban", "refused", brief=True),
    Status.OPEN: Badge("run", "loader-circle", "running", brief=True),
}


@dataclass(frozen=True)
class Line:
    """A stroke of the gutter in the colour of its branch."""

    stroke: Stroke
    tone: str
    x: float


@dataclass(frozen=True)
class RowCard:
    """A step, or a run of `skipped` ones from `number` to `last_number`."""

    row: Row
    step: Step
    number: int
    last_number: int
    last_seq: int
    level: int
    lines: Sequence[Line]
    branch: BranchCard
    badges: Sequence[Badge] = ()
    head: BranchCard | None = None
    opens: BranchCard | None = None


@dataclass(frozen=True)
class Gutter:
    """The room for the lanes, in pixels."""

    lanes: int
    row_height: int = ROW
    middle: int = ROW // 2

    @property
    def squeeze(self) -> float:
        return round(min(PITCH, WIDEST / self.lanes) / LANE, 4)

    @property
    def width(self) -> float:
        return round(LANE * self.lanes * self.squeeze, 1)

    @property
    def radius(self) -> float:
        return min(RADIUS, round(LANE * self.squeeze / 2 - 0.5, 1))


@dataclass
class TreeView:
    """At most MOST_ROWS rows: those from `start` on of `count`."""

    rows: list[RowCard]
    gutter: Gutter
    start: int = 0
    count: int = 0
    earlier: int | None = None
    later: int | None = None


def tree_view(
    trace_id: str, outline: Outline, branches: Mapping[str, BranchCard], wanted: Wanted, current: Step | None
) -> TreeView:
    """Around the current step, or from the row that is wanted on."""
    keep = kept(outline, wanted, current)
    found = rows(outline.steps, outline.lanes, show_all=wanted.all_steps, keep=keep)
    start = wanted.rows if wanted.rows is not None else place_of(found, current) - MOST_ROWS // 2
    start = max(0, min(start, len(found) - MOST_ROWS))
    view = part(trace_id, outline, branches, found[start : start + MOST_ROWS])
    view.start, view.count = start, len(found)
    view.earlier = max(0, start - MOST_ROWS) if start else None
    view.later = start + MOST_ROWS if start + MOST_ROWS < len(found) else None
    return view


def run_view(trace_id: str, outline: Outline, branches: Mapping[str, BranchCard], wanted: Wanted) -> TreeView:
    """Only the rows of the run that is opened."""
    opened = inside(outline, wanted)
    found = rows(outline.steps, outline.lanes, show_all=False, keep=kept(outline, wanted, None))
    ids = {step.id for step in opened}
    return part(trace_id, outline, branches, [row for row in found if row.first in ids])


def kept(outline: Outline, wanted: Wanted, current: Step | None) -> set[EventId]:
    opened = {step.id for step in inside(outline, wanted)[:MOST_ROWS]}
    return opened | {current.id} if current else opened


def inside(outline: Outline, wanted: Wanted) -> list[Step]:
    """The steps of the run that is opened: it is on one branch."""
    first = outline.by_seq.get(wanted.opened[0]) if wanted.opened else None
    if first is None or wanted.opened is None:
        return []
    return [step for step in outline.steps if step.branch == first.branch and first.seq <= step.seq <= wanted.opened[1]]


def place_of(found: Sequence[Row], current: Step | None) -> int:
    if current is None:
        return 0
    return next((place for place, row in enumerate(found) if row.first == current.id), 0)


def part(trace_id: str, outline: Outline, branches: Mapping[str, BranchCard], found: Sequence[Row]) -> TreeView:
    seqs = [outline.by_id[row.first].seq for row in found if row.step and row.first]
    whole = {step.id: step for step in steps_of(events_at(trace_id, seqs))}
    gutter = Gutter(max((stroke.to_column + 1 for row in found for stroke in row.strokes), default=1))
    desk = Desk(outline, branches, whole, gutter)
    return TreeView([desk.card(row) for row in found], gutter)


def depths(outline: Outline) -> dict[str, int]:
    """How many forks there are between the root and each branch, the branch with the root being 1."""
    found: dict[str, int] = {}
    for lane in outline.lanes:
        found[lane.branch] = found.get(lane.parent, 0) + 1 if lane.parent else 1
    return found


@dataclass(frozen=True)
class Desk:
    """What rows are made of. `whole` are the steps with their words."""

    outline: Outline
    branches: Mapping[str, BranchCard]
    whole: Mapping[EventId, Step]
    gutter: Gutter

    @cached_property
    def levels(self) -> Mapping[str, int]:
        return depths(self.outline)

    def card(self, row: Row) -> RowCard:
        assert row.first is not None
        assert row.last is not None
        first, last = self.outline.by_id[row.first], self.outline.by_id[row.last]
        branch = self.branches[first.branch]
        return RowCard(
            row=row,
            step=self.whole.get(first.id, first),
            number=self.outline.numbers[first.id],
            last_number=self.outline.numbers[last.id],
            last_seq=last.seq,
            level=self.levels[first.branch],
            lines=[self.line(stroke) for stroke in row.strokes],
            branch=branch,
            badges=badges(self.whole[first.id]) if row.step and first.id in self.whole else (),
            head=branch if last.seq == branch.head else None,
            opens=branch if first.seq == branch.first and branch.order else None,
        )

    def line(self, stroke: Stroke) -> Line:
        return Line(stroke, self.branches[stroke.branch].tone, round(stroke.x * self.gutter.squeeze, 1))


def badges(step: Step) -> list[Badge]:
    found = [STATUSES[step.status]] if step.status in STATUSES and step.kind != Kind.VERIFY else []
    if step.marks.irreversible:
        found.append(Badge("wait", "send", f"left the machine: {step.marks.irreversible}", brief=True))
    if step.kind == Kind.SNAPSHOT:
        found.append(Badge("", "memory-stick", f"keeps {step.event.data.get('keeps', '')}", brief=True))
    if step.kind == Kind.VERIFY:
        found.append(verdict_badge(step))
    if step.by_person and step.event.name != "goal":
        found.append(Badge("human", "hand", "human", brief=True))
    return found


def verdict_badge(step: Step) -> Badge:
    outcomes = [finding["outcome"] for finding in step.event.data["findings"]]
    passed = outcomes.count(Outcome.PASSED)
    score = f"{passed}/{len(outcomes)}"
    if step.status == Status.OK:
        return Badge("pass", "circle-check", "passed", brief=True, score=score)
    if step.status == Status.FAILED:
        return Badge("fail", "circle-x", "failed", brief=True, score=score)
    return Badge("wait", "circle-alert", "not checked", brief=True)
