"""Which snapshots of a run are worth their room: the newest, of older ones ever fewer, and all that are needed."""

import logging
from collections.abc import Sequence

from django.conf import settings

from sandboxes import forking
from sandboxes.errors import SandboxError
from sandboxes.models import Snapshot

from .models import Branch

log = logging.getLogger(__name__)

NEWEST = 4
MADE_BY_PLAN = r"^(verified )?after \d+ steps$"


def thin(run_id: str) -> None:
    """Of those that the plan took, none that a person or the agent asked for, and none that a branch began from."""
    began = Branch.objects.filter(run=run_id, snapshot__isnull=False).values("snapshot")
    mine = Snapshot.objects.filter(machine__branches__run=run_id, label__regex=MADE_BY_PLAN).exclude(pk__in=began)
    rows = list(mine.distinct().order_by("made_at"))
    for row in _surplus(rows, settings.SNAPSHOT_BUDGET):
        try:
            forking.request_delete(row)
        except SandboxError as error:
            log.info("snapshot %s stays: %s", row.pk, error)


def _surplus(rows: Sequence[Snapshot], budget: int) -> list[Snapshot]:
    """Oldest first, and of the older half every second; then whatever is over the budget."""
    older = rows[:-NEWEST]
    gone = list(older[: len(older) // 2][1::2])
    left = [row for row in rows if row not in gone]
    size = sum(row.size for row in left)
    for row in left[:-1]:
        if size <= budget:
            break
        gone.append(row)
        size -= row.size
    return gone
