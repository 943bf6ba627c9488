"""A Watch that reads what people want from the branch's row."""

import time
from collections.abc import Sequence

from traces.models import Event

from .budget import Limits, check
from .endings import Cancelled, Parked
from .history import Conversation
from .leases import Lease
from .models import Branch, Note, Task, Wish

SLICE = 0.2


class RowWatch:
    """`seconds` before this worker took over are in the row; a resumed branch's clock goes on from there."""

    def __init__(self, branch: Branch, lease: Lease) -> None:
        self.branch_id, self.lease = branch.pk, lease
        self.task_id, self.trace_id = branch.run.task_id, branch.run.trace_id
        self.before, self.began = branch.seconds, time.monotonic()

    def look(self, talk: Conversation) -> None:
        self.wishes()
        limits = Limits.from_json(Task.objects.values_list("limits", flat=True).get(pk=self.task_id))
        check(limits, talk.spent(self.seconds / 60))

    def wishes(self) -> None:
        self.lease.check()
        wish = Branch.objects.values_list("wish", flat=True).get(pk=self.branch_id)
        if wish == Wish.CANCEL:
            raise Cancelled("Somebody cancelled it.")
        if wish == Wish.PAUSE:
            raise Parked("Somebody paused it.")

    @property
    def seconds(self) -> float:
        return self.before + time.monotonic() - self.began

    def notes(self) -> Sequence[tuple[str, str]]:
        """A note is heard once its turn is in the trace, whatever became of the worker that wrote it."""
        unheard = Note.objects.filter(branch=self.branch_id, heard=False)
        names = {note.pk: f"note {note.pk}" for note in unheard}
        told = set(Event.objects.filter(trace=self.trace_id, name__in=names.values()).values_list("name", flat=True))
        Note.objects.filter(pk__in=[pk for pk, name in names.items() if name in told]).update(heard=True)
        return [(names[note.pk], note.text) for note in unheard if names[note.pk] not in told]

    def wait(self, seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(SLICE, left))
            self.wishes()
