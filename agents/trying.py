"""Where a run goes on after a branch has failed: from the most promising moment, told what went wrong.

`recover` goes back on the failed branch's own path. `search` looks at the whole tree, best first: of all moments that
were saved, the one where most checks had passed and which was tried from least.
"""

import logging
from collections.abc import Iterable, Sequence
from itertools import cycle, islice
from typing import Any

from traces.payloads import EventId
from traces.queries import head_of, light_path, totals
from traces.steps import steps_of

from . import branching
from .branching import Way
from .budget import Limits
from .errors import BadTask
from .models import Branch, Run, State
from .plan import MOST, Plan
from .points import Point, on_path

log = logging.getLogger(__name__)

AGAIN = "Another attempt from here failed. {} Do not do the same again: find another way."
STILL_DONE = "This was done outside the machine, and going back has not undone it: {}."
MOST_TOLD = 3
USUAL_EVERY = 5


def try_again(run: Run, branches: Sequence[Branch], plan: Plan) -> bool:
    """Whether another attempt has begun. A run that has used up its money or tokens makes none."""
    try:
        return not _is_spent(run) and (_recover(run, branches, plan) or _search(run, branches, plan))
    except BadTask as error:
        log.info("run %s: %s", run.pk, error)
        return False


def search(run: Run, width: int, *, budget: int | None = None) -> Plan:
    """What the run does from now on whenever a branch of it fails. Raises BadTask.

    Its machines are saved now and then, unless the task says when.
    """
    if not 1 <= width <= MOST["search"]:
        raise BadTask(f"width: must be from 1 to {MOST['search']}.")
    before = Plan.of(run)
    run.plan = {**run.plan, "search": width, "budget": before.budget if budget is None else budget}
    if not before.every and not before.verified:
        run.plan |= {"every": USUAL_EVERY, "verified": True}
    plan = Plan.of(run)
    Run.objects.filter(pk=run.pk).update(plan=run.plan)
    return plan


def _recover(run: Run, branches: Sequence[Branch], plan: Plan) -> bool:
    left = plan.recover - sum(branch.recovers_id is not None for branch in branches)
    tried = {branch.recovers_id for branch in branches}
    begun = False
    for branch in branches:
        if left <= 0 or branch.state != State.FAILED or branch.pk in tried:
            continue
        if point := most_promising(run, branch):
            way = Way(hint_after(run, point, [branch]), recovers=branch)
            branching.fork_at(run, point, [way], key=f"recover {branch.pk}")
            left, begun = left - 1, True
    return begun


def _search(run: Run, branches: Sequence[Branch], plan: Plan) -> bool:
    """New ones in the place of those that ended, from the best moments, while the budget lasts."""
    places = min(plan.search - sum(not branch.ended for branch in branches), plan.budget - len(branches))
    failed = [branch for branch in branches if branch.state in (State.FAILED, State.INFRA_ERROR)]
    if places <= 0 or not failed:
        return False
    found = frontier(run, branches)
    for number, point in enumerate(islice(cycle(found), places)):
        through = [branch for branch in failed if _went_through(run, branch, point)] or failed
        way = Way(hint_after(run, point, through))
        branching.fork_at(run, point, [way], key=f"search {len(branches)}.{number}")
    return bool(found)


def frontier(run: Run, branches: Iterable[Branch]) -> list[Point]:
    """All saved moments of the tree, the most promising first: verified, seldom tried from, late."""
    begun = [branch.forked_at for branch in branches]
    found = {point.snapshot: point for branch in branches for point in _points(run, branch)}

    def promise(point: Point) -> tuple[float, int, int]:
        tried = begun.count(point.after)
        return point.verified / (1 + tried), -tried, point.seq

    return sorted(found.values(), key=promise, reverse=True)


def most_promising(run: Run, branch: Branch) -> Point | None:
    """On the branch's path: where most checks had passed; of those the latest that was not tried from already."""
    tried = list(run.branches.filter(recovers__isnull=False).values_list("forked_at", flat=True))
    found = _points(run, branch)
    return max(found, key=lambda point: (point.verified, -tried.count(point.after), point.seq), default=None)


def hint_after(run: Run, point: Point, failed: Sequence[Branch]) -> str:
    """What went wrong, and what of it is still done."""
    told = " ".join(dict.fromkeys(why(branch) for branch in failed[-MOST_TOLD:]))
    outside = [done for branch in failed for done in done_outside(run, branch, point)]
    still = STILL_DONE.format("; ".join(dict.fromkeys(outside))[:1000]) if outside else ""
    return " ".join(filter(None, (AGAIN.format(told), still)))


def done_outside(run: Run, branch: Branch, since: Point) -> list[str]:
    """What the branch did after that moment and no fork undoes, in sentences."""
    head = _head(run, branch)
    path = light_path(run.trace_id, head) if head else []
    later = (step for step in steps_of(path) if step.event.revision > since.revision)
    return [step.sentence for step in later if step.marks.irreversible]


def why(branch: Branch) -> str:
    findings: dict[str, Any] = (branch.verdict or {}).get("findings", {})
    failed = [f"{name}: {one.get('actual', '')}" for name, one in findings.items() if one.get("outcome") == "failed"]
    return f"These checks failed: {'; '.join(failed)[:1000]}." if failed else branch.detail[:1000]


def _is_spent(run: Run) -> bool:
    used, limits = totals(run.trace_id), Limits.from_json(run.task.limits)
    return used.tokens >= limits.tokens or used.cost >= limits.money


def _points(run: Run, branch: Branch) -> list[Point]:
    head = _head(run, branch)
    return on_path(run, head) if head else []


def _went_through(run: Run, branch: Branch, point: Point) -> bool:
    return any(one.snapshot == point.snapshot for one in _points(run, branch))


def _head(run: Run, branch: Branch) -> EventId | None:
    head = head_of(run.trace_id, branch.name) or branch.forked_at
    return EventId(head) if head else None
