"""A branch of the task: the conversation up to a turn's end, a machine from that moment's snapshot, and a hint."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import transaction

from sandboxes.models import Snapshot
from traces.events import Fate, Kind
from traces.models import Event
from traces.payloads import EventId
from traces.queries import Totals, head_of, path_totals, totals

from . import lifecycle, vault
from .budget import Limits, Spent, shared, whole_of
from .errors import BadCall, BadTask
from .models import ENDED, Branch, Run, Wish
from .plan import Plan
from .points import Point

BY_A_PERSON = ("person ", "takeover ")
"""How the keys of branches begin that somebody asked for."""


@dataclass(frozen=True)
class Way:
    """What a new branch is told, and what it has of its own: a model, limits."""

    hint: str
    model: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)
    recovers: Branch | None = None


def fork(parent: Branch, snapshot: Snapshot, hints: Sequence[str], *, key: str = "") -> list[Branch]:
    """New branches from where the reply under way began. Raises BadCall unless it asked for nothing but this."""
    begins_after = boundary(parent)
    try:
        return open_branches(parent, begins_after, snapshot.pk, [Way(hint) for hint in hints], key=key)
    except BadTask as error:
        raise BadCall(str(error)) from None


def fork_at(run: Run, point: Point, ways: Sequence[Way], *, key: str = "") -> list[Branch]:
    """New branches from a saved moment. Raises BadTask when the run may have no more of them."""
    parent = run.branches.get(name=point.branch)
    return open_branches(parent, point.after, point.snapshot, ways, key=key)


def open_branches(
    parent: Branch, after: EventId, snapshot_id: str, ways: Sequence[Way], *, key: str = ""
) -> list[Branch]:
    """All or none, and once for each `key`. What money and tokens are left is shared by all that go on."""
    with transaction.atomic():
        run = Run.objects.select_for_update().select_related("task").get(pk=parent.run_id)
        if known := opened(run, key):
            return known
        _check_wish(parent)
        _check_budget(run, len(ways))
        heads = _share_out(run, len(ways))
        clean = vault.cleaner_of(run.task)
        begun = _names_given(run)
        children = [
            Branch.objects.create(
                run=run,
                name=f"b{begun + number}",
                parent=parent,
                forked_at=after,
                snapshot_id=snapshot_id,
                hint=clean.text(way.hint),
                model=dict(way.model),
                limits=dict(way.limits),
                share=_share(run, after, heads, way.limits),
                recovers=way.recovers,
                key=f"{key}/{number}" if key else "",
            )
            for number, way in enumerate(ways, 1)
        ]
        lifecycle.mirror(run)
        for child in children:
            transaction.on_commit(partial(lifecycle.enqueue, child.pk))
    return children


def whole_for(branch: Branch, share: Mapping[str, float]) -> dict[str, float]:
    """A person's word about the share of one branch, as limits of its own that the next fork shares out."""
    run, head = branch.run, head_of(branch.run.trace_id, branch.name) or branch.forked_at
    path = _spent(path_totals(run.trace_id, EventId(head))) if head else Spent()
    heads = max(1, run.branches.exclude(state__in=ENDED).count())
    return whole_of(share, path, _spent(totals(run.trace_id)), heads)


def opened(run: Run, key: str) -> list[Branch]:
    """Those that a wish has led to already."""
    return list(run.branches.filter(key__startswith=f"{key}/")) if key else []


def boundary(branch: Branch) -> EventId:
    """The event before the reply whose call is being carried out: there every call before it is answered."""
    mine = Event.objects.filter(trace=branch.run.trace_id, branch=branch.name)
    reply = mine.filter(kind=Kind.MESSAGE, name="reply").order_by("-seq").first()
    calls = mine.filter(kind=Kind.ACTION, seq__gt=reply.seq).exclude(fate=Fate.REFUSED) if reply else mine.none()
    if reply is None or reply.parent_id is None or calls.count() != 1:
        raise BadCall("fork: must be the only call of its turn, so that all branches begin at one moment.")
    return EventId(reply.parent_id)


def _names_given(run: Run) -> int:
    """The highest number of a branch: one that was deleted leaves a gap."""
    names = run.branches.values_list("name", flat=True)
    return max((int(name[1:]) for name in names if name[:1] == "b" and name[1:].isdecimal()), default=0)


def _share_out(run: Run, more: int) -> int:
    """Those that go on beside the new ones keep their share; how many there will be."""
    going = list(run.branches.exclude(state__in=ENDED))
    for branch in going:
        head = head_of(run.trace_id, branch.name) or branch.forked_at
        if head:
            kept = _share(run, EventId(head), len(going) + more, branch.limits)
            Branch.objects.filter(pk=branch.pk).update(share=kept)
    return len(going) + more


def _share(run: Run, head: EventId, heads: int, own: Mapping[str, Any]) -> dict[str, float]:
    whole = Limits.from_json({**run.task.limits, **own})
    return shared(whole, _spent(path_totals(run.trace_id, head)), _spent(totals(run.trace_id)), heads)


def _spent(used: Totals) -> Spent:
    return Spent(tokens=used.tokens, money=used.cost)


def _check_wish(parent: Branch) -> None:
    """Whoever stops a branch does not expect it to go on in others."""
    if Branch.objects.filter(pk=parent.pk, wish=Wish.CANCEL).exclude(state__in=ENDED).exists():
        raise BadTask("The branch is being stopped: nothing begins from it any more.")


def _check_budget(run: Run, more: int) -> None:
    most = Plan.of(run).budget
    if run.branches.count() + more > most:
        raise BadTask(f"plan: the run may have {most} branches, and {more} more would be too many.")
