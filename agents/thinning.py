"""Which snapshots of a run are worth their room: the newest, of older ones ever fewer, and all that are needed."""

import logging
from collections.abc import Sequence

from django.conf import settings

from sandboxes import forking
from sandboxes.errors import SandboxError
from sandboxes.models import Snapshot

from .models import ENDED, Branch, Run, Task

log = logging.getLogger(__name__)

NEWEST = 4
MADE_BY_PLAN = r"^((verified )?after \d+ steps|before: (mail|publish|upload|remote command|submit))$"


def thin(run_id: str) -> None:
    """Of those that the plan took, none that a person or the agent asked for, and none that somebody begins from."""
    began = Branch.objects.filter(run=run_id, snapshot__isnull=False).values("snapshot")
    tasks = Task.objects.exclude(snapshot="").values("snapshot")
    mine = Snapshot.objects.filter(machine__branches__run=run_id, label__regex=MADE_BY_PLAN)
    rows = list(mine.exclude(pk__in=began).exclude(pk__in=tasks).distinct().order_by("made_at"))
    for row in _surplus(rows, settings.SNAPSHOT_BUDGET):
        try:
            forking.request_delete(row)
        except SandboxError as error:
            log.info("snapshot %s stays: %s", row.pk, error)


def thin_ended() -> None:
    """Runs that are over take no more snapshots, and theirs grow old."""
    saved = Snapshot.objects.filter(label__regex=MADE_BY_PLAN).values("machine")
    over = Run.objects.filter(state__in=ENDED, branches__machine__in=saved)
    for run_id in over.distinct().values_list("pk", flat=True):
        thin(run_id)


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
