"""The list of steps as it is read: what matters stands alone, straight runs of the rest become one row each."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from .events import Actor, Kind
from .gutter import Cell, Stroke, Thread, draw
from .payloads import EventId
from .steps import Status, Step
from .tree import Lane

SHORTEST = 3
"""Steps: a shorter run takes no more room than its summary."""

TROUBLE = (Status.FAILED, Status.UNCERTAIN, Status.REFUSED)
TURNING = (Kind.FORK, Kind.SELECT, Kind.TAKEOVER)


@dataclass(frozen=True)
class Row:
    """One step; or `step` is None, and `skipped` steps of one branch from `first` to `last` are left out here.

    `column` is where its branch is in the gutter, which is `width` columns wide in this row.
    """

    step: Step | None
    skipped: int
    first: EventId
    last: EventId
    column: int
    strokes: tuple[Stroke, ...]
    width: int


def rows(steps: Sequence[Step], lanes: Sequence[Lane], *, show_all: bool, keep: Collection[EventId] = ()) -> list[Row]:
    """Every branch in one piece, right below the step where it begins; those of one step in the order of the lanes.

    `steps` are in order of seq: those of all branches, of a path, or of a part.
    """
    groups = [[step] for step in steps] if show_all else list(_groups(steps, _kept(steps, keep)))
    cells = [Cell(skips=len(group) > 1) for group in groups]
    group_of = {id(cell): group for cell, group in zip(cells, groups, strict=True)}
    threads = _threads(groups, cells, {lane.branch: lane.order for lane in lanes})
    return [_row(group_of[id(drawn.cell)], drawn.column, drawn.strokes) for drawn in draw(threads)]


def _row(group: Sequence[Step], column: int, strokes: tuple[Stroke, ...]) -> Row:
    step = group[0] if len(group) == 1 else None
    return Row(step, 0 if step else len(group), group[0].id, group[-1].id, column, strokes, column + 1)


def _kept(steps: Sequence[Step], keep: Collection[EventId]) -> set[EventId]:
    """What stays: beginnings, heads and branching points, what people did, trouble, and snapshots with a label."""
    branch_of: dict[EventId, str] = {}
    last: dict[str, EventId] = {}
    kept = set(keep)
    for step in steps:
        number, branch = step.event.id, step.event.branch
        branch_of[number] = branch
        if branch not in last:
            kept.add(number)
        last[branch] = number
        if step.parent is not None and branch_of.get(step.parent) != branch:
            kept.add(step.parent)
        if _stands_out(step):
            kept.add(number)
    return kept.union(last.values())


def _stands_out(step: Step) -> bool:
    if step.status in TROUBLE or step.event.actor == Actor.HUMAN:
        return True
    if step.event.kind == Kind.SNAPSHOT:
        return bool(step.event.data.get("label"))
    return step.event.kind in TURNING


def _groups(steps: Sequence[Step], kept: Collection[EventId]) -> Iterator[list[Step]]:
    """In the order of their first steps."""
    runs: dict[str, list[Step]] = {}
    found: list[list[Step]] = []
    for step in steps:
        branch = step.event.branch
        if step.event.id in kept:
            runs.pop(branch, None)
            found.append([step])
        elif branch in runs:
            runs[branch].append(step)
        else:
            found.append(runs.setdefault(branch, [step]))
    for group in found:
        yield from [group] if len(group) >= SHORTEST else [[step] for step in group]


def _threads(groups: Sequence[Sequence[Step]], cells: Sequence[Cell], order: dict[str, int]) -> list[Thread]:
    """Those that begin nowhere; each of the others hangs on the cell where it does."""
    place = {group[-1].id: cell for group, cell in zip(groups, cells, strict=True)}
    threads: dict[str, Thread] = {}
    roots: list[Thread] = []
    for group, cell in zip(groups, cells, strict=True):
        branch, parent = group[0].branch, group[0].parent
        if branch not in threads:
            threads[branch] = Thread(branch)
            at = place.get(parent) if parent is not None else None
            (at.threads if at else roots).append(threads[branch])
        threads[branch].cells.append(cell)
    for cell in cells:
        cell.threads.sort(key=lambda thread: order.get(thread.branch, len(order)))
    return roots
