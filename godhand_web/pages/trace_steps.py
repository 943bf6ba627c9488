"""Steps as the script of a trace's page knows them: one line, two pictures, and what is drawn over them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from traces.models import Blob, Event
from traces.outline import Outline, stretches
from traces.payloads import Sha256
from traces.queries import events_at
from traces.steps import Status, Step, steps_of

from .trace_shapes import Shape, Size, shapes

CODES = {
    Status.OK: ".",
    Status.NEUTRAL: "-",
    Status.FAILED: "x",
    Status.UNCERTAIN: "u",
    Status.REFUSED: "r",
    Status.OPEN: "o",
}


@dataclass(frozen=True)
class Card:
    """A step with its number on the path. One that saw nothing shows the screen that was seen last: it is `carried`."""

    step: Step
    number: int
    before: Sha256 | None
    after: Sha256 | None
    size: Size | None
    carried: bool
    since: int | None

    @property
    def shapes(self) -> dict[str, list[Shape]]:
        return shapes(self.step, self.number, self.size)

    @property
    def change(self) -> float | None:
        change = (self.step.event.result or {}).get("change")
        return change["ratio"] * 100 if change else None

    @property
    def settled_ms(self) -> int | None:
        return (self.step.event.result or {}).get("settle_ms")

    def as_json(self) -> dict[str, Any]:
        step = self.step
        return {
            "seq": step.seq,
            "branch": step.branch,
            "text": step.sentence,
            "icon": step.icon,
            "code": CODES[step.status],
            "by": step.event.actor,
            "at": self.since,
            "before": self.before,
            "after": self.after,
            "carried": self.carried,
            "size": self.size,
            "change": self.change,
            "settled": self.settled_ms,
            "shapes": {layer: [shape.as_json() for shape in found] for layer, found in self.shapes.items()},
        }


def cards(trace_id: str, numbers: Mapping[int, int]) -> list[Card]:
    """Of the steps with these seqs, each with its number on the path, in order: those of a branch follow each other."""
    steps = steps_of(events_at(trace_id, numbers))
    began, seen = beginning(trace_id), list(screens(trace_id, steps))
    known = sizes(after for _, after in seen)
    found = []
    for step, (before, after) in zip(steps, seen, strict=True):
        size = known.get(after) if after else None
        carried = after is not None and step.after is None
        found.append(Card(step, numbers[step.seq], before, after, size, carried, since(step, began)))
    return found


def screens(trace_id: str, steps: Sequence[Step]) -> Iterator[tuple[Sha256 | None, Sha256 | None]]:
    """What each shows before and after: its own pictures, else twice the one that was seen last on its path."""
    last, branch = None, ""
    for step in steps:
        if step.after is None and step.branch != branch:
            last = screen_before(trace_id, step.branch, step.seq)
        last, branch = step.after or last, step.branch
        yield (step.before, step.after) if step.after else (last, last)


def beginning(trace_id: str) -> datetime | None:
    return Event.objects.filter(trace=trace_id).order_by("seq").values_list("started_at", flat=True).first()


def since(step: Step, began: datetime | None) -> int | None:
    """Milliseconds from the beginning of the trace."""
    return round((step.at - began).total_seconds() * 1000) if step.at and began else None


def times(trace_id: str, path: Sequence[Step]) -> list[int]:
    """When each step of a path was: milliseconds after the one before, the first after the beginning of the trace."""
    began, last, found = beginning(trace_id), 0, []
    events = Event.objects.filter(trace=trace_id, branch__in={step.branch for step in path})
    ends = {seq: ended or started for seq, ended, started in events.values_list("seq", "ended_at", "started_at")}
    for step in path:
        at = ends.get(step.seq)
        now = max(last, round((at - began).total_seconds() * 1000)) if at and began else last
        found.append(now - last)
        last = now
    return found


def sizes(shas: Iterable[Sha256 | None]) -> dict[str, Size]:
    wanted = {sha for sha in shas if sha}
    found = Blob.objects.filter(pk__in=wanted, width__gt=0, height__gt=0).values_list("pk", "width", "height")
    return {sha: (width or 0, height or 0) for sha, width, height in found}


def screen_before(trace_id: str, branch: str, seq: int) -> Sha256 | None:
    """The picture that was seen last on the path of a branch, up to an event of it."""
    for part, last in stretches(trace_id, branch, seq):
        events = Event.objects.filter(trace=trace_id, branch=part, seq__lte=min(last, seq)).exclude(after="")
        if found := events.order_by("-seq").values_list("after", flat=True).first():
            return Sha256(found)
    return None


def path_data(path: Sequence[Step], outline: Outline) -> dict[str, Any]:
    """All steps of a path in little room: the differences of their seqs, a letter for how each ended, and landmarks."""
    seqs = [step.seq for step in path]
    return {
        "branch": path[-1].branch if path else "",
        "seqs": [after - before for before, after in zip([0, *seqs], seqs, strict=False)],
        "codes": "".join(CODES[step.status] for step in path),
        "people": [place for place, step in enumerate(path) if step.by_person],
        "forks": [place for place, step in enumerate(path) if step.id in outline.forked],
    }
