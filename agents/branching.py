"""A branch of the task: the conversation up to a turn's end, a machine from that moment's snapshot, and a hint."""

from collections.abc import Sequence
from functools import partial

from django.db import transaction

from sandboxes.models import Snapshot
from traces.events import Fate, Kind
from traces.models import Event

from .errors import BadCall
from .lifecycle import enqueue
from .models import Branch


def fork(parent: Branch, snapshot: Snapshot, hints: Sequence[str]) -> list[Branch]:
    """New branches from where the reply under way began. Raises BadCall unless it asked for nothing but this."""
    begins_after = boundary(parent)
    with transaction.atomic():
        count = Branch.objects.filter(run=parent.run_id).count()
        children = [
            Branch.objects.create(
                run_id=parent.run_id,
                name=f"b{count + number - 1}",
                parent=parent,
                forked_at=begins_after,
                snapshot=snapshot,
                hint=hint,
            )
            for number, hint in enumerate(hints, 1)
        ]
        for child in children:
            transaction.on_commit(partial(enqueue, child.pk))
    return children


def boundary(branch: Branch) -> int:
    """The event before the reply whose call is being carried out: there every call before it is answered."""
    mine = Event.objects.filter(trace=branch.run.trace_id, branch=branch.name)
    reply = mine.filter(kind=Kind.MESSAGE, name="reply").order_by("-seq").first()
    calls = mine.filter(kind=Kind.ACTION, seq__gt=reply.seq).exclude(fate=Fate.REFUSED) if reply else mine.none()
    if reply is None or reply.parent_id is None or calls.count() != 1:
        raise BadCall("fork: must be the only call of its turn, so that all branches begin at one moment.")
    return int(reply.parent_id)
