"""The shape of a trace, from nothing but who follows whom."""

import heapq
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from .payloads import EventId


class Node(NamedTuple):
    id: EventId
    parent: EventId | None
    branch: str
    seq: int


@dataclass(frozen=True)
class Lane:
    """A branch as it is drawn: in a column, from the event it forked at to its last one.

    `order` counts branches as they began. The columns of branches that have ended are used again. `forked_at` and
    `parent` are None for the branch with the root.
    """

    branch: str
    order: int
    column: int
    parent: str | None
    forked_at: EventId | None
    first: EventId
    last: EventId


class Tree:
    """A node whose parent is not among the nodes counts as a root, so a part of a trace is a tree as well."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        """Raises ValueError when a node comes before its parent, which no recorder writes."""
        self._nodes = {node.id: node for node in sorted(nodes, key=lambda node: node.seq)}
        self._children: dict[EventId, list[EventId]] = {}
        for node in self._nodes.values():
            parent = self._nodes.get(node.parent) if node.parent is not None else None
            if parent is not None:
                if parent.seq >= node.seq:
                    raise ValueError(f"Event {node.seq} comes before the one it follows.")
                self._children.setdefault(parent.id, []).append(node.id)

    def path(self, leaf: EventId) -> list[EventId]:
        """From the root to the leaf. Raises KeyError when there is no such event."""
        node: Node | None = self._nodes[leaf]
        path = []
        while node is not None:
            path.append(node.id)
            node = self._nodes.get(node.parent) if node.parent is not None else None
        return path[::-1]

    def children(self, node: EventId) -> Sequence[EventId]:
        """In the order in which they were written."""
        return self._children.get(node, [])

    def lanes(self, running: Collection[str] = ()) -> list[Lane]:
        """In order. A branch that still runs keeps its column to itself."""
        ends: dict[str, list[Node]] = {}
        for node in self._nodes.values():
            ends.setdefault(node.branch, [node, node])[1] = node
        columns = _Columns()
        return [
            self._lane(order, first, last, columns, keeps=branch in running)
            for order, (branch, (first, last)) in enumerate(ends.items())
        ]

    def _lane(self, order: int, first: Node, last: Node, columns: "_Columns", *, keeps: bool) -> Lane:
        fork = self._nodes.get(first.parent) if first.parent is not None else None
        column = columns.take(fork.seq if fork else first.seq, None if keeps else last.seq)
        return Lane(
            branch=first.branch,
            order=order,
            column=column,
            parent=fork and fork.branch,
            forked_at=fork and fork.id,
            first=first.id,
            last=last.id,
        )


class _Columns:
    """Each is given to one branch at a time, the leftmost first."""

    def __init__(self) -> None:
        self._busy: list[tuple[int, int]] = []
        self._free: list[int] = []
        self._made = 0

    def take(self, start: int, end: int | None) -> int:
        while self._busy and self._busy[0][0] < start:
            heapq.heappush(self._free, heapq.heappop(self._busy)[1])
        if not self._free:
            heapq.heappush(self._free, self._made)
            self._made += 1
        column = heapq.heappop(self._free)
        if end is not None:
            heapq.heappush(self._busy, (end, column))
        return column
