"""How two compared paths are shown: their totals, their rows, and the two pictures of one row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property

from django.urls import reverse

from traces import queries
from traces.compare import Comparison, Kin, Path, Sums, sums_of, written_at
from traces.models import Blob, ScreenText
from traces.payloads import EventId, Sha256
from traces.steps import Step, steps_of

from ..templatetags.godhand import spoken
from .heads import Head

NO_PICTURE = "0" * 64
SCREEN = (1280, 800)
WORDS = {Kin.SAME: "same", Kin.CHANGED: "changed", Kin.ONLY_A: "only A", Kin.ONLY_B: "only B"}


@dataclass(frozen=True)
class Cell:
    """A step of one side; `number` counts those of its path from 1. One that saw nothing shows what was seen last."""

    number: int
    step: Step
    before: Sha256 | None
    after: Sha256 | None

    @property
    def points(self) -> str:
        return " ".join(f"{x},{y}" for x, y in self.step.marks.points)


@dataclass(frozen=True)
class Line:
    """Row 0 is the last step that both share."""

    number: int
    kin: Kin | None
    a: Cell | None
    b: Cell | None

    @property
    def word(self) -> str:
        return WORDS[self.kin] if self.kin else "common"


@dataclass(frozen=True)
class Pane:
    """What the stage shows of one side: the step of the row, or the last before it, which is then `past`."""

    letter: str
    side: "Side"
    cell: Cell | None
    past: bool
    moment: str

    @property
    def picture(self) -> str:
        sha256 = self.cell and (self.cell.before if self.moment == "before" else self.cell.after)
        return self.side.pictures.replace(NO_PICTURE, sha256) if sha256 else ""


class Side:
    def __init__(self, head: Head) -> None:
        self.head = head
        self.events = queries.light_path(head.trace.pk, head.last)
        self.steps = steps_of(self.events)
        self.pictures = reverse("trace_picture", args=[head.trace.pk, NO_PICTURE])

    @cached_property
    def size(self) -> tuple[int, int]:
        shown = next((step.after for step in self.steps if step.after), None)
        row = Blob.objects.filter(pk=shown).values_list("width", "height").first() if shown else None
        return (row[0], row[1]) if row and row[0] and row[1] else SCREEN

    @cached_property
    def sums(self) -> Sums:
        return sums_of(self.events)

    def path(self) -> Path:
        return Path(self.steps, self.size, self._targets())

    def _targets(self) -> dict[EventId, str]:
        seen = {step.id: (step.event.before, *step.marks.points[0]) for step in self.steps if step.marks.points}
        wanted = {sha256 for sha256, _, _ in seen.values() if sha256}
        read = dict(ScreenText.objects.filter(pk__in=wanted).values_list("pk", "spots"))
        return {step: written_at(read[at[0]], at[1], at[2]) for step, at in seen.items() if at[0] in read}


def cells(steps: Sequence[Step]) -> dict[EventId, Cell]:
    """Of a whole path."""
    found = {}
    seen: Sha256 | None = None
    for number, step in enumerate(steps, 1):
        found[step.id] = Cell(number, step, step.before or seen, step.after or seen)
        seen = step.after or seen
    return found


def lines(comparison: Comparison, a: Side, b: Side) -> list[Line]:
    of_a, of_b = cells(a.steps), cells(b.steps)
    fork = of_a[comparison.shared[-1].id] if comparison.shared else None
    first = [Line(0, None, fork, fork)] if fork else []
    return first + [
        Line(number, row.kin, of_a[row.a.id] if row.a else None, of_b[row.b.id] if row.b else None)
        for number, row in enumerate(comparison.rows, 1)
    ]


def panes(side_a: Side, side_b: Side, shown: Sequence[Line], moment: str) -> list[Pane]:
    """Of the last of the lines."""
    return [
        _pane("A", side_a, [line.a for line in shown], moment),
        _pane("B", side_b, [line.b for line in shown], moment),
    ]


def _pane(letter: str, side: Side, done: Sequence[Cell | None], moment: str) -> Pane:
    last = next((cell for cell in reversed(done) if cell), None)
    return Pane(letter, side, last, past=not (done and done[-1]), moment=moment)


@dataclass(frozen=True)
class Total:
    title: str
    a: str
    b: str
    difference: str


def totals(a: Sums, b: Sums) -> list[Total]:
    return [
        _total("Actions", a.steps, b.steps, lambda count: f"{count:,.0f}"),
        _total("Time", a.seconds, b.seconds, lambda seconds: spoken(timedelta(seconds=seconds))),
        _total("Tokens", a.tokens, b.tokens, lambda count: f"{count:,.0f}"),
        _total("Cost", a.cost, b.cost, lambda dollars: f"${dollars:,.3f}"),
    ]


def _total(title: str, a: float | None, b: float | None, said: Callable[[float], str]) -> Total:
    def plain(value: float | None) -> str:
        return "–" if value is None else said(value)

    if a is None or b is None:
        return Total(title, plain(a), plain(b), "–")
    more, sign = said(abs(b - a)), "+" if b > a else "−"
    return Total(title, plain(a), plain(b), "same" if more == said(0) else f"{sign}{more}")
