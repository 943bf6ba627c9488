"""The branches of a trace, each with how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Sum

from agents.endings import handed_on
from agents.models import Branch, State
from traces.events import Kind, Outcome
from traces.models import Event, Trace
from traces.outline import Outline
from traces.steps import Status, Step

LIVE = ("queued", "provisioning", "booting", "running", "paused", "needs_help", "human_control", "finishing")

GOING = ("provisioning", "running")
STATES = {
    "queued": ("clock", "queued"),
    "paused": ("circle-pause", "paused"),
    "needs_help": ("hand-helping", "needs help"),
    "human_control": ("hand", "human"),
    "succeeded": ("circle-check", "succeeded"),
    "failed": ("circle-x", "failed"),
    "cancelled": ("circle-slash", "cancelled"),
    "infra_error": ("unplug", "broken"),
    "forked": ("git-fork", "forked"),
}
"""Icon and word of a branch that its steps say nothing about."""


def is_live(trace: Trace) -> bool:
    return trace.ended_at is None and trace.state in LIVE


@dataclass(frozen=True)
class BranchCard:
    """`order` counts branches from 0 on as they began. `cost` and `tokens` are those of the branch alone.

    `first` and `head` are seqs; `steps` is the number of the head on its path.
    """

    name: str
    order: int
    first: int
    head: int
    steps: int
    tone: str
    passed: int
    checked: int
    cost: float
    tokens: int
    winner: bool
    state: str = ""

    @property
    def icon(self) -> str:
        if self.winner:
            return "trophy"
        if self.tone == "" and self.state in STATES:
            return STATES[self.state][0]
        return {"pass": "circle-check", "fail": "circle-x", "run": "circle-dot", "human": "hand"}.get(self.tone, "")

    @property
    def word(self) -> str:
        if self.winner:
            return "winner"
        words = {"pass": "passed", "fail": "failed", "run": "running", "human": "human"}
        word = words.get(self.tone) or STATES.get(self.state, ("", ""))[1]
        return f"{word} {self.passed}/{self.checked}" if self.checked and self.tone in ("pass", "fail") else word

    @property
    def label(self) -> str:
        """For a list to choose from."""
        return " · ".join(part for part in (self.name, self.word) if part)


def branch_cards(trace: Trace, outline: Outline) -> dict[str, BranchCard]:
    verdicts = {step.branch: step for step in outline.steps if step.kind == Kind.VERIFY}
    chosen = winners(outline)
    spent, known = spending(trace.pk), states(trace)
    made = {}
    for lane in outline.lanes:
        head, verdict = outline.by_id[lane.last], verdicts.get(lane.branch)
        outcomes = [finding["outcome"] for finding in verdict.event.data["findings"]] if verdict else []
        cost, tokens = spent.get(lane.branch, (0.0, 0))
        state = known.get(lane.branch, "")
        made[lane.branch] = BranchCard(
            name=lane.branch,
            order=lane.order,
            first=outline.by_id[lane.first].seq,
            head=head.seq,
            steps=outline.numbers[head.id],
            tone=tone(head, verdict, live=state in GOING if state else is_live(trace)),
            passed=outcomes.count(Outcome.PASSED),
            checked=len(outcomes),
            cost=cost,
            tokens=tokens,
            winner=lane.branch in chosen,
            state=state,
        )
    return made


def states(trace: Trace) -> dict[str, str]:
    """Of every branch of its run, also of those without a step; of a trace without a run there are none."""
    rows = Branch.objects.filter(run__trace=trace.pk).values_list("name", "state", "detail")
    return {name: shown_state(state, detail) for name, state, detail in rows}


def shown_state(state: str, detail: str) -> str:
    """Nobody cancelled a branch that handed its task on to others."""
    return "forked" if state == State.CANCELLED and handed_on(detail) else state


def tone(head: Step, verdict: Step | None, *, live: bool) -> str:
    if verdict is not None and verdict.status in (Status.OK, Status.FAILED):
        return "pass" if verdict.status == Status.OK else "fail"
    if head.status == Status.FAILED:
        return "fail"
    if head.by_person:
        return "human"
    return "run" if live else ""


def winners(outline: Outline) -> set[str]:
    """The last word counts: a person may have overruled a choice."""
    chosen = [str(step.event.data.get("branch", "")) for step in outline.steps if step.kind == Kind.SELECT]
    return set(chosen[-1:])


def spending(trace_id: str) -> Mapping[str, tuple[float, int]]:
    sums = Event.objects.filter(trace=trace_id).order_by().values_list("branch").annotate(Sum("cost"), Sum("tokens"))
    return {branch: (cost or 0.0, tokens or 0) for branch, cost, tokens in sums}
