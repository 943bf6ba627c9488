"""The branches of a run, each with its state, what it did last, what it cost, and what its checks found."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Max

from agents.models import Branch, Run, State
from traces.events import Kind
from traces.models import Event
from traces.queries import events_up_to
from traces.sentences import hinted
from traces.steps import Step, steps_of

from ..access import Person
from .task_doing import doing
from .trace_branches import spending
from .trace_links import Links

READ = 8
LAST = 2**62


@dataclass(frozen=True)
class BranchHead:
    """`cost` and `tokens` are those of the branch alone. `seq` is its last step, None when it has made none."""

    branch: Branch
    sentence: str
    seq: int | None
    picture: str
    cost: float
    tokens: int
    passed: int
    checked: int
    winner: bool

    @property
    def name(self) -> str:
        return self.branch.name

    @property
    def hint(self) -> str:
        return hinted(self.branch.hint)

    @property
    def verdict(self) -> str:
        """A tone: what the checks say so far."""
        if not self.checked:
            return ""
        if self.passed == self.checked:
            return "pass"
        return "fail" if self.branch.verdict or self.branch.ended else ""

    @property
    def pickable(self) -> bool:
        return self.branch.ended and not self.winner


def branch_heads(run: Run, links: Links, person: Person) -> list[BranchHead]:
    """In the order in which they began."""
    costs, findings, seen = spending(run.trace_id), _findings(run.trace_id), _pictures(run.trace_id)
    due = len(run.task.checks)
    heads = []
    for branch in run.branches.select_related("machine", "parent"):
        branch.run = run
        last = _last(run.trace_id, branch)
        outcomes = findings.get(branch.name, [])
        cost, tokens = costs.get(branch.name, (0.0, 0))
        heads.append(
            BranchHead(
                branch=branch,
                sentence=_sentence(branch, last, person),
                seq=last.seq if last else None,
                picture=links.thumb(picture) if (picture := _picture(branch, seen)) else "",
                cost=cost,
                tokens=tokens,
                passed=outcomes.count("passed"),
                checked=max(due, len(outcomes)) if outcomes else 0,
                winner=run.chosen_id == branch.pk,
            )
        )
    return heads


def _last(trace_id: str, branch: Branch) -> Step | None:
    found = steps_of(events_up_to(trace_id, branch.name, LAST, READ))
    return next((step for step in reversed(found) if step.kind != Kind.SELECT), None)


def _pictures(trace_id: str) -> Mapping[str, str]:
    """What each branch saw last."""
    seen = Event.objects.filter(trace=trace_id).exclude(after="").order_by()
    last = seen.values("branch").annotate(last=Max("seq")).values_list("last", flat=True)
    return dict(seen.filter(seq__in=list(last)).values_list("branch", "after"))


def _picture(branch: Branch, seen: Mapping[str, str]) -> str:
    """What it saw last, or what was seen where it was forked."""
    if branch.name in seen or branch.forked_at is None or branch.parent is None:
        return seen.get(branch.name, "")
    before = Event.objects.filter(trace=branch.run.trace_id, branch=branch.parent.name, pk__lte=branch.forked_at)
    return before.exclude(after="").order_by("-seq").values_list("after", flat=True).first() or ""


def _sentence(branch: Branch, last: Step | None, person: Person) -> str:
    if branch.state == State.SUCCEEDED:
        return branch.claim or (last.sentence if last else "")
    return doing(branch, last, person).what or (last.sentence if last else "")


def _findings(trace_id: str) -> Mapping[str, list[str]]:
    """The outcomes of the last look at each branch."""
    looks = Event.objects.filter(trace=trace_id, kind=Kind.VERIFY).order_by("seq").values_list("branch", "data")
    return {branch: [finding["outcome"] for finding in data["findings"]] for branch, data in looks}
