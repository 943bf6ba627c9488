"""A Watch that reads what people want from the branch's row."""

import time
from collections.abc import Sequence

from traces.errors import Fenced
from traces.models import Event

from . import closing
from .budget import Limits, check
from .endings import PAUSED, Cancelled, Parked, Yielded
from .history import Conversation
from .leases import LOST, Lease
from .models import Branch, Note, Wish
from .states import STEPWISE

SLICE = 0.2


class RowWatch:
    """`seconds` before this worker took over are in the row; a resumed branch's clock goes on from there."""

    def __init__(self, branch: Branch, lease: Lease) -> None:
        self.branch_id, self.lease = branch.pk, lease
        self.trace_id = branch.run.trace_id
        self.before, self.began = branch.seconds, time.monotonic()
        self.resumed = True

    def look(self, talk: Conversation) -> None:
        wish = self.wishes()
        resumed, self.resumed = self.resumed, False
        if wish == STEPWISE and talk.pending and not resumed:
            raise Parked("It goes step by step.")
        of_task, own, share = Branch.objects.values_list("run__task__limits", "limits", "share").get(pk=self.branch_id)
        check(Limits.from_json({**of_task, **own, **share}), talk.spent(self.seconds / 60))

    def wishes(self) -> str:
        """What is left to be granted. Raises as `look`."""
        self.lease.check()
        if closing.begun.is_set():
            raise Fenced(closing.LEAVES)
        wish, fence = Branch.objects.values_list("wish", "fence").get(pk=self.branch_id)
        if fence != self.lease.fence:
            raise Fenced(LOST)
        if wish == Wish.CANCEL:
            raise Cancelled("Somebody cancelled it.")
        if wish == Wish.PAUSE:
            raise Parked(PAUSED.format(self._pauser()))
        if wish == Wish.YIELD:
            raise Yielded("A person takes over.")
        return wish

    def _pauser(self) -> str:
        person = Branch.objects.select_related("paused_by").get(pk=self.branch_id).paused_by
        return person.get_username() if person else "Somebody"

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
