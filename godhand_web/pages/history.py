"""Where a machine comes from and what was saved on the way, as lines that branch.

A line runs straight to where the machine is now, or else to the newest snapshot; whatever else was saved at a point
hangs at its side.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from sandboxes.models import Machine, Snapshot

from ..access import Person, visible_machines, visible_snapshots

ANCESTORS_SHOWN = 50
SNAPSHOTS_SHOWN = 200


@dataclass
class Point:
    """No snapshot: the image at the beginning, or the machine itself at the end."""

    snapshot: Snapshot | None = None
    here: bool = False
    current: bool = False
    forks: list[Machine] = field(default_factory=list)
    sides: "list[Line]" = field(default_factory=list)


Line = list[Point]
Children = dict[str | None, list[Point]]


def line_of(person: Person, machine: Machine) -> Line:
    """From the image to where the machine is now."""
    known = known_snapshots(person, machine)
    forks = forks_of(person, machine, known)
    children: Children = defaultdict(list)
    for row in sorted(known.values(), key=lambda each: each.made_at):
        parent = row.parent_id if row.parent_id in known else None
        point = Point(row, current=row.pk == machine.made_from_id, forks=forks[row.pk])
        children[parent].append(point)
    origin = machine.made_from_id if machine.made_from_id in known else None
    children[origin].append(Point(here=True))
    return straight(Point(), children, way_to(origin, known))


def known_snapshots(person: Person, machine: Machine) -> dict[str, Snapshot]:
    """Those of the machine and all that they or it were made from, as far as the person may see."""
    visible = visible_snapshots(person).select_related("machine")
    newest = visible.filter(machine=machine).order_by("-made_at")[:SNAPSHOTS_SHOWN]
    known = {row.pk: row for row in newest}
    wanted = {machine.made_from_id, *(row.parent_id for row in known.values())}
    for _ in range(ANCESTORS_SHOWN):
        missing = {each for each in wanted if each} - known.keys()
        found = list(visible.filter(pk__in=missing)) if missing else []
        if not found:
            break
        known |= {row.pk: row for row in found}
        wanted = {row.parent_id for row in found}
    return known


def forks_of(person: Person, machine: Machine, known: Iterable[str]) -> dict[str, list[Machine]]:
    forks: dict[str, list[Machine]] = defaultdict(list)
    for other in visible_machines(person).filter(made_from__in=list(known)).exclude(pk=machine.pk):
        forks[other.made_from_id or ""].append(other)
    return forks


def way_to(origin: str | None, known: dict[str, Snapshot]) -> set[str]:
    way: set[str] = set()
    while origin in known and origin not in way:
        way.add(origin)
        origin = known[origin].parent_id
    return way


def straight(first: Point, children: Children, way: set[str]) -> Line:
    line = [first]
    for point in line:
        following = [] if point.here else children[point.snapshot.pk if point.snapshot else None]
        if following:
            onward = next((each for each in following if each.here or leads(each, way)), following[-1])
            line.append(onward)
            point.sides = [straight(each, children, way) for each in following if each is not onward]
    return line


def leads(point: Point, way: set[str]) -> bool:
    return point.snapshot is not None and point.snapshot.pk in way
