"""A branch's machine, asked for from its host's worker: this process has no rights over machines."""

import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from django.db.models import Model, QuerySet

from sandboxes import forking, lifecycle
from sandboxes.errors import Gone, Unavailable
from sandboxes.models import Event, Machine, Snapshot, State
from traces.events import Recorder

from . import branching
from .models import Branch
from .workplace import Saved, Workplace

PATIENCE = 120.0
POLL = 0.02

Row = TypeVar("Row", bound=Model)


def wait_until_ready(machine_id: str, look: Callable[[], None]) -> Machine:
    """`look` may raise to give up. Raises Gone when the machine ended before it was ready."""
    while True:
        machine = Machine.objects.get(pk=machine_id)
        if machine.state == State.READY:
            return machine
        if machine.ended or machine.state in (State.DESTROYING, State.STOPPED):
            raise Gone(f"The machine is {machine.state}: {machine.detail}")
        look()
        time.sleep(POLL)


class BranchKeeper:
    """A Keeper, for the machine of a branch that has rows."""

    def __init__(self, branch: Branch, machine: Machine, recorder: Recorder) -> None:
        self.branch, self.machine, self.recorder = branch, machine, recorder
        self.place: Workplace | None = None

    def snapshot(self, label: str) -> Saved:
        began, since = time.monotonic(), self._last_event()
        known = set(self._rows().values_list("pk", flat=True))
        forking.request_snapshot(self.machine, label)
        fresh = self._rows().exclude(pk__in=known).filter(label=label)
        row = self._await(fresh.first, "No snapshot was taken", since)
        self.recorder.snapshot(
            snapshot=row.pk,
            backend=row.backend,
            keeps=row.keeps,
            size=row.size,
            ms=round((time.monotonic() - began) * 1000),
            label=label,
        )
        return _saved(row)

    def restore(self, snapshot_id: str) -> None:
        row = Snapshot.objects.get(pk=snapshot_id, machine=self.machine)
        since = self._last_event()
        forking.request_restore(self.machine, row)
        back = Event.objects.filter(machine=self.machine, pk__gt=since, text__startswith="Back at its snapshot")
        self._await(back.first, "It could not go back", since)
        self.machine.refresh_from_db()
        if self.place:
            self.place.sandbox = lifecycle.attach(self.machine)

    def snapshots(self) -> list[Saved]:
        return [_saved(row) for row in self._rows()]

    def fork(self, hints: Sequence[str]) -> list[str]:
        saved = self.snapshot("before the fork")
        children = branching.fork(self.branch, Snapshot.objects.get(pk=saved.id), hints)
        return [child.name for child in children]

    def _rows(self) -> QuerySet[Snapshot]:
        return Snapshot.objects.filter(machine=self.machine)

    def _last_event(self) -> int:
        return Event.objects.filter(machine=self.machine).order_by("-pk").values_list("pk", flat=True).first() or 0

    def _await(self, found: Callable[[], Row | None], failure: str, since: int) -> Row:
        """Until its host's worker has done it. Raises Unavailable with that worker's words."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            row = found()
            if row is not None:
                return row
            told = Event.objects.filter(machine=self.machine, pk__gt=since, text__startswith=failure).first()
            if told is not None:
                raise Unavailable(told.text)
            if Machine.objects.filter(pk=self.machine.pk).exclude(state=State.READY).exists():
                raise Gone("The machine has ended.")
            time.sleep(POLL)
        raise Unavailable(f"The machine's host did not do it within {PATIENCE:g} seconds.")


def _saved(row: Snapshot) -> Saved:
    return Saved(row.pk, row.label, row.keeps, row.size)
