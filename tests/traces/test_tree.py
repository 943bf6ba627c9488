import sys
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import Any

import pytest

from traces.payloads import EventId
from traces.tree import Node, Tree


def nodes(*rows: tuple[int, int | None, str]) -> list[Node]:
    """Numbers stand for both ids and seqs."""
    return [
        Node(EventId(seq), None if parent is None else EventId(parent), branch, seq) for seq, parent, branch in rows
    ]


FORKS = nodes(
    (1, None, "main"),
    (2, 1, "main"),
    (3, 2, "a"),
    (4, 2, "main"),
    (5, 3, "a of a"),
    (6, 3, "a"),
    (7, 5, "a of a"),
    (8, 4, "main"),
    (9, 8, "late"),
    (10, 8, "main"),
)


def lines_run(work: Callable[[], Any]) -> int:
    """How many lines of Python it takes: a measure that no other process disturbs."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def comb(size: int) -> list[Node]:
    """A trunk with a branch of two events every ten."""
    rows: list[tuple[int, int | None, str]] = [(1, None, "main")]
    trunk = 1
    for seq in range(2, size + 1, 3):
        rows += [(seq, trunk, "main"), (seq + 1, seq, f"b{seq}"), (seq + 2, seq + 1, f"b{seq}")]
        trunk = seq
    return nodes(*rows)


def test_it_finds_the_path_to_every_leaf() -> None:
    tree = Tree(FORKS)
    assert tree.path(EventId(10)) == [1, 2, 4, 8, 10]
    assert tree.path(EventId(7)) == [1, 2, 3, 5, 7]
    assert tree.path(EventId(1)) == [1]
    with pytest.raises(KeyError):
        tree.path(EventId(11))


def test_it_lists_children_in_the_order_they_came() -> None:
    tree = Tree(reversed(FORKS))
    assert tree.children(EventId(2)) == [3, 4]
    assert tree.children(EventId(3)) == [5, 6]
    assert tree.children(EventId(10)) == []


def test_it_gives_each_branch_a_lane_from_its_fork_on() -> None:
    lanes = Tree(FORKS).lanes()
    assert [(lane.branch, lane.order, lane.parent, lane.forked_at) for lane in lanes] == [
        ("main", 0, None, None),
        ("a", 1, "main", 2),
        ("a of a", 2, "a", 3),
        ("late", 3, "main", 8),
    ]
    assert [(lane.first, lane.last) for lane in lanes] == [(1, 10), (3, 6), (5, 7), (9, 9)]


def test_it_uses_the_columns_of_branches_that_have_ended_again() -> None:
    assert [lane.column for lane in Tree(FORKS).lanes()] == [0, 1, 2, 1]
    assert [lane.column for lane in Tree(FORKS).lanes(running={"a"})] == [0, 1, 2, 2]


def test_it_never_lets_two_branches_cross_in_a_column() -> None:
    tree = Tree(FORKS)
    spans: dict[int, list[tuple[int, int]]] = {}
    for lane in tree.lanes():
        spans.setdefault(lane.column, []).append((lane.forked_at or lane.first, lane.last))
    for column in spans.values():
        assert all(end < start for (_, end), (start, _) in pairwise(column))


def test_it_takes_a_part_of_a_trace_for_a_tree() -> None:
    part = Tree(FORKS[4:])
    assert part.path(EventId(7)) == [5, 7]
    assert [(lane.branch, lane.parent) for lane in part.lanes()] == [
        ("a of a", None),
        ("a", None),
        ("main", None),
        ("late", "main"),
    ]


@pytest.mark.parametrize("rows", [[(1, 1, "main")], [(1, 2, "main"), (2, 1, "main")]])
def test_it_refuses_what_goes_in_circles(rows: list[tuple[int, int | None, str]]) -> None:
    with pytest.raises(ValueError, match="comes before the one it follows"):
        Tree(nodes(*rows))


def test_it_takes_time_in_proportion_to_the_trace() -> None:
    def work(given: list[Node]) -> Callable[[], Any]:
        def run() -> None:
            tree = Tree(given)
            tree.lanes()
            tree.path(given[-1].id)

        return run

    small, large = comb(3_000), comb(30_000)
    assert len(large) == 30_001
    assert lines_run(work(large)) <= 10.1 * lines_run(work(small))
    assert lines_run(work(large)) <= 40 * len(large)


def test_it_finds_its_way_down_a_trace_of_one_long_line() -> None:
    line = nodes((1, None, "main"), *((seq, seq - 1, "main") for seq in range(2, 30_001)))
    assert len(Tree(line).path(EventId(30_000))) == 30_000
    assert [lane.column for lane in Tree(line).lanes()] == [0]
