"""The list of steps and the lines beside it, drawn as text: `o` is a dot, `:` dotted, `\\` a curve into a branch."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest

from traces.events import Actor, Fate, Kind, Recorded
from traces.payloads import EventId
from traces.rows import Row, rows
from traces.steps import Step, steps_of
from traces.tree import Lane, Node, Tree

INK = {"line": "|", "dotted": ":", "dot": "o", "curve": "\\"}


@dataclass
class Story:
    events: list[Recorded] = field(default_factory=list)

    def on(self, branch: str, count: int, after: int | None = None, **more: object) -> int:
        """So many steps, the first after that one; the last."""
        for _ in range(count):
            number = len(self.events) + 1
            self.events.append(event(number, branch, after, **more))
            after = number
        assert after is not None
        return after

    def steps(self) -> list[Step]:
        return steps_of(self.events)

    def lanes(self) -> list[Lane]:
        return Tree(Node(one.id, one.parent, one.branch, one.seq) for one in self.events).lanes()

    def rows(self, *, show_all: bool = False, keep: Iterable[int] = ()) -> list[Row]:
        return rows(self.steps(), self.lanes(), show_all=show_all, keep={EventId(one) for one in keep})

    def drawn(self, *, show_all: bool = False) -> list[str]:
        return [drawn(row) for row in self.rows(show_all=show_all)]


def event(number: int, branch: str, parent: int | None, **more: object) -> Recorded:
    given: dict[str, object] = {"kind": Kind.OBSERVATION, "actor": Actor.AGENT, "data": {"text": "x"}, "ok": None}
    return Recorded(
        id=EventId(number),
        seq=number,
        revision=number,
        branch=branch,
        parent=None if parent is None else EventId(parent),
        turn=0,
        name="",
        fate=Fate.NONE,
        op_id="",
        act=None,
        result=None,
        before=None,
        after=None,
        started_at=None,
        ended_at=None,
        hidden=0,
        **{**given, **more},  # type: ignore[arg-type]
    )


def drawn(row: Row) -> str:
    line = [" "] * (2 * row.width)
    for stroke in row.strokes:
        line[2 * stroke.to_column - (stroke.kind == "curve")] = INK[stroke.kind]
    return f"{''.join(line).rstrip()} {row.step.seq if row.step else f'+{row.skipped}'}"


def numbers(found: Iterable[Row]) -> list[int]:
    return [row.step.seq if row.step else -row.skipped for row in found]


def test_it_draws_a_branch_right_below_the_step_where_it_begins() -> None:
    story = Story()
    fork = story.on("main", 2)
    story.on("main", 1, fork)
    story.on("b1", 2, fork)
    story.on("b2", 1, fork)
    assert story.drawn(show_all=True) == ["o 1", "o 2", "|\\o 4", "| o 5", "|\\o 6", "o 3"]


def test_it_leads_past_branches_when_their_parent_has_ended() -> None:
    story = Story()
    fork = story.on("main", 2)
    story.on("b1", 2, fork)
    story.on("b2", 1, fork)
    assert story.drawn(show_all=True) == ["o 1", "o 2", ":\\o 3", ": o 4", " \\o 5"]


def test_it_goes_straight_on_when_a_branch_takes_over_from_another() -> None:
    story = Story()
    story.on("b1", 2, story.on("main", 2))
    assert story.drawn(show_all=True) == ["o 1", "o 2", "o 3", "o 4"]


def test_it_goes_right_for_a_branch_of_a_branch_only() -> None:
    story = Story()
    fork = story.on("main", 2)
    story.on("main", 1, fork)
    inner = story.on("b1", 1, fork)
    story.on("b1", 1, inner)
    story.on("b2", 1, inner)
    story.on("b3", 1, fork)
    assert story.drawn(show_all=True) == ["o 1", "o 2", "|\\o 4", "| |\\o 6", "| o 5", "|\\o 7", "o 3"]


def test_it_draws_halves_at_both_ends_of_a_line() -> None:
    story = Story()
    story.on("main", 3)
    parts = [[(stroke.kind, stroke.part) for stroke in row.strokes] for row in story.rows(show_all=True)]
    dot = ("dot", "whole")
    assert parts == [[("line", "lower"), dot], [("line", "whole"), dot], [("line", "upper"), dot]]
    assert [row.strokes[0].path for row in story.rows(show_all=True)] == ["M12 14V28", "M12 0V28", "M12 0V14"]


def test_it_folds_straight_runs() -> None:
    story = Story()
    story.on("main", 20)
    assert story.drawn() == ["o 1", ": +18", "o 20"]
    (_, run, _) = story.rows()
    assert (run.step, run.first, run.last) == (None, 2, 19)


def test_it_folds_nothing_that_would_take_no_less_room() -> None:
    story = Story()
    story.on("main", 4)
    assert numbers(story.rows()) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "striking",
    [
        {"actor": Actor.HUMAN},
        {"ok": False},
        {"kind": Kind.ERROR},
        {"kind": Kind.LIMIT},
        {"fate": Fate.UNCERTAIN},
        {"fate": Fate.REFUSED},
        {"kind": Kind.TAKEOVER},
        {"kind": Kind.SNAPSHOT, "data": {"label": "before it"}},
        {"kind": Kind.VERIFY, "data": {"findings": [{"outcome": "failed"}]}},
    ],
)
def test_it_keeps_what_stands_out(striking: dict[str, object]) -> None:
    story = Story()
    fate = striking.pop("fate", Fate.NONE)
    middle = story.on("main", 1, story.on("main", 5), **striking)
    story.events[-1] = Recorded(**{**vars(story.events[-1]), "fate": fate})
    story.on("main", 5, middle)
    assert numbers(story.rows()) == [1, -4, 6, -4, 11]


@pytest.mark.parametrize(
    "plain",
    [
        {"ok": True},
        {"kind": Kind.SNAPSHOT, "data": {"label": ""}},
        {"kind": Kind.VERIFY, "data": {"findings": [{"outcome": "passed"}]}},
    ],
)
def test_it_folds_what_went_as_it_should(plain: dict[str, object]) -> None:
    story = Story()
    story.on("main", 5, story.on("main", 1, story.on("main", 5), **plain))
    assert numbers(story.rows()) == [1, -9, 11]


def test_it_keeps_branching_points_beginnings_and_heads() -> None:
    story = Story()
    fork = story.on("main", 10)
    story.on("main", 10, fork)
    story.on("b1", 10, fork)
    assert numbers(story.rows()) == [1, -8, 10, 21, -8, 30, -9, 20]


def test_it_keeps_what_it_is_asked_to() -> None:
    story = Story()
    story.on("main", 20)
    assert numbers(story.rows(keep=[9])) == [1, -7, 9, -10, 20]


def test_it_puts_branches_that_ran_side_by_side_one_after_the_other() -> None:
    story = Story()
    fork = story.on("main", 1)
    one = two = fork
    for _ in range(3):
        one, two = story.on("b1", 1, one), story.on("b2", 1, two)
    assert numbers(story.rows(show_all=True)) == [1, 2, 4, 6, 3, 5, 7]


def test_it_shows_a_part_of_a_trace_as_well() -> None:
    story = Story()
    fork = story.on("main", 10)
    story.on("b1", 5, fork)
    part = [step for step in story.steps() if step.seq > 5]
    assert numbers(rows(part, story.lanes(), show_all=True)) == list(range(6, 16))
    assert rows([], [], show_all=False) == []


def test_it_is_quick_and_narrow_for_a_hundred_branches() -> None:
    story = Story()
    story.on("main", 300)
    for number in range(99):
        story.on(f"b{number}", 300, number * 3 + 1)
    steps, lanes = story.steps(), story.lanes()
    began = time.process_time()
    found = rows(steps, lanes, show_all=True)
    few = rows(steps, lanes, show_all=False)
    assert time.process_time() - began < 3
    assert len(found) == 30_000
    assert max(row.width for row in found) == 2
    assert len(few) < 800
