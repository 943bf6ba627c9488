"""A trace as its page shows it, whoever looks: its owner, somebody with a link, or a file on a disk.

Templates get one TraceView and find every address through its `links`, so another base gives the same page elsewhere.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from traces.events import Kind
from traces.models import Trace
from traces.outline import Outline, outline
from traces.search import Found, search
from traces.steps import Status, Step
from traces.thumbs import COLUMNS, SHEET, TILE_HEIGHT, TILE_WIDTH

from .trace_branches import BranchCard, branch_cards, is_live, states
from .trace_details import Details
from .trace_links import TABS, VIEWS, Links, Wanted
from .trace_rows import TreeView, tree_view
from .trace_steps import Card, cards, path_data

AROUND = 30
"""Steps on each side of the current one that the page brings along."""


class TraceView:
    """`remarks`: the visitor may write some. `socket` is where hints come from while the run goes on; without one the
    page looks again by itself. `fork` is where the visitor begins branches, if anywhere.
    """

    tabs: tuple[str, ...] = TABS
    views: tuple[str, ...] = VIEWS

    def __init__(self, trace: Trace, links: Links, *, remarks: bool = False, socket: str = "", fork: str = "") -> None:
        self.trace = trace
        self.fork = fork
        self.remarks = remarks
        self.live = is_live(trace)
        self.socket = socket if self.live else ""
        self.outline: Outline = outline(trace)
        self.branches: dict[str, BranchCard] = branch_cards(trace, self.outline)
        self.branch, self.current = self._chosen(links.wanted)
        self.path: list[Step] = self.outline.path(self.branch)
        self.wanted = self._settled(links.wanted)
        self.links = replace(links, wanted=self.wanted)

    def _chosen(self, wanted: Wanted) -> tuple[str, Step | None]:
        step = self._asked(wanted)
        branch = wanted.branch if wanted.branch in self.branches else ""
        if step is None:
            branch = branch or self._best()
            return branch, opening(self.trace, self.outline.path(branch))
        if branch:
            path = self.outline.path(branch)
            return branch, next((each for each in reversed(path) if each.seq <= step.seq), path[0])
        return step.branch, step

    def _asked(self, wanted: Wanted) -> Step | None:
        """The step of the link; for a reply that is told with its action, that one."""
        if wanted.step is None:
            return None
        return self.outline.by_seq.get(wanted.step) or next(
            (step for step in self.outline.steps if step.seq > wanted.step), None
        )

    def _best(self) -> str:
        winner = next((card.name for card in self.branches.values() if card.winner), None)
        return winner or next(iter(self.branches), "")

    def _settled(self, wanted: Wanted) -> Wanted:
        if self.current is None:
            return wanted
        return replace(wanted, step=self.current.seq, branch="" if self.branch == self.current.branch else self.branch)

    @cached_property
    def place(self) -> int:
        """Of the current step on the path, from 0 on."""
        return self.outline.numbers[self.current.id] - 1 if self.current else 0

    @cached_property
    def on_path(self) -> set[int]:
        return {step.seq for step in self.path}

    def address_of(self, seq: int) -> str:
        """Of a step of any branch: on the way to the end of this one if it is, else on its own."""
        return self.links.step(seq) if seq in self.on_path else self.links.page(step=seq, branch="")

    @property
    def count(self) -> int:
        return len(self.path)

    @cached_property
    def window(self) -> list[Card]:
        near = range(max(0, self.place - AROUND), min(self.count, self.place + AROUND + 1))
        return cards(self.trace.pk, {self.path[place].seq: place + 1 for place in near})

    @cached_property
    def card(self) -> Card | None:
        return next((card for card in self.window if self.current and card.step.seq == self.current.seq), None)

    @cached_property
    def details(self) -> Details | None:
        return Details(self.trace.pk, self.card) if self.card else None

    @cached_property
    def tree(self) -> TreeView:
        return tree_view(self.trace.pk, self.outline, self.branches, self.wanted, self.current)

    @cached_property
    def found(self) -> Found | None:
        return search(self.trace.pk, self.wanted.search) if self.wanted.search else None

    @property
    def hit_cards(self) -> list[Card]:
        """The first of what was found, for those without JavaScript."""
        known = self.outline.by_id
        hits = [known[hit] for hit in self.found.hits[:AROUND] if hit in known] if self.found else []
        return cards(self.trace.pk, {hit.seq: self.outline.numbers[hit.id] for hit in hits})

    @property
    def strip(self) -> list[Card]:
        """For those without JavaScript."""
        return [card for card in self.window if abs(card.number - self.place - 1) <= 5]

    @property
    def previous(self) -> Step | None:
        return self.path[self.place - 1] if self.current and self.place else None

    @property
    def following(self) -> Step | None:
        return self.path[self.place + 1] if self.current and self.place + 1 < self.count else None

    @property
    def first(self) -> Step | None:
        return self.path[0] if self.path else None

    @property
    def last(self) -> Step | None:
        return self.path[-1] if self.path else None

    @cached_property
    def waiting(self) -> list[tuple[str, str]]:
        """Names and states of branches that have not made a step yet."""
        return [(name, state) for name, state in states(self.trace).items() if name not in self.branches]

    @property
    def branch_count(self) -> int:
        return len(self.branches) + len(self.waiting)

    @property
    def fewer(self) -> bool:
        return not self.wanted.all_steps

    @cached_property
    def data(self) -> dict[str, Any]:
        """What the script begins with."""
        return {
            "trace": self.trace.pk,
            "base": self.links.base,
            "revision": self.trace.revision,
            "live": self.live,
            "current": self.current.seq if self.current else None,
            "tab": self.wanted.tab,
            "view": self.wanted.view,
            "path": path_data(self.path, self.outline),
            "steps": [card.as_json() for card in self.window],
            "branches": [[card.name, card.head, card.first] for card in self.branches.values()],
            "sheet": {"tiles": SHEET, "columns": COLUMNS, "width": TILE_WIDTH, "height": TILE_HEIGHT},
        }


def opening(trace: Trace, path: Sequence[Step]) -> Step | None:
    """Where one wants to look first: what went wrong, unless all ended well or still goes on; else what was done last.

    A machine that is kept is saved after all is over, which is no news.
    """
    if not path or is_live(trace):
        return path[-1] if path else None
    wrong = (step for step in reversed(path) if step.status == Status.FAILED and trace.state != "succeeded")
    done = (step for step in reversed(path) if step.kind != Kind.SNAPSHOT)
    return next(wrong, None) or next(done, path[-1])
