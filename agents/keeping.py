"""A branch's machine, asked for from its host's worker: this process has no rights over machines."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import NamedTuple, TypeVar

from django.db.models import Model, QuerySet

from sandboxes import forking, lifecycle
from sandboxes.errors import Gone, Unavailable
from sandboxes.models import Event, Machine, Snapshot, State
from traces.events import Kind, Recorder
from traces.models import Event as TraceEvent

from . import branching, thinning, trying
from .models import Branch
from .plan import Plan
from .wanted import wanted
from .workplace import Saved, Workplace

log = logging.getLogger(__name__)

PATIENCE = 120.0
ASK_AGAIN = 20.0
"""Far longer than any snapshot takes."""
POLL = 0.02
BEFORE_FORK = "before the fork"

Row = TypeVar("Row", bound=Model)


def wait_until_ready(machine_id: str, look: Callable[[], object]) -> Machine:
    """`look` may raise to give up. Raises Gone when the machine ended before it was ready."""
    while True:
        machine = Machine.objects.get(pk=machine_id)
        if machine.state == State.READY:
            return machine
        if machine.ended or machine.state in (State.DESTROYING, State.STOPPED):
            raise Gone(f"The machine is {machine.state}: {machine.detail}")
        look()
        time.sleep(POLL)


class _Begun(NamedTuple):
    """A snapshot that was asked for, at a time of the monotonic clock: the rows and events there were before."""

    label: str
    known: frozenset[str]
    since: int
    at: float


class BranchKeeper:
    """A Keeper, for the machine of a branch that has rows. `saved_at` is after how many steps it was last saved."""

    def __init__(self, branch: Branch, machine: Machine, recorder: Recorder, clean: Callable[[str], str] = str) -> None:
        self.branch, self.machine, self.recorder, self.clean = branch, machine, recorder, clean
        self.place: Workplace | None = None
        self.plan, self.saved_at = Plan.of(branch.run), 0

    def snapshot(self, label: str) -> Saved:
        return self._finish(self._begin(label))

    def save_before(self, effect: str) -> None:
        """What follows leaves the machine. One that cannot be saved goes on all the same."""
        if self.place:
            self.place.leave()
        try:
            self.snapshot(f"before: {effect}")
        except Unavailable as error:
            log.warning("branch %s was not saved: %s", self.branch, error)

    @contextmanager
    def saving(self, steps: int) -> Iterator[None]:
        """A snapshot that cannot be taken costs no more than itself: the branch goes on."""
        label = self._due(steps)
        if not label:
            yield
            return
        if self.place:
            self.place.leave()
        begun, self.saved_at = self._begin(label), steps
        yield
        try:
            self._finish(begun)
        except Unavailable as error:
            log.warning("branch %s was not saved: %s", self.branch, error)
        thinning.thin(self.branch.run_id)

    def _due(self, steps: int) -> str:
        """What a snapshot now would be called; empty when it is not time for one."""
        if asked := wanted(self.machine):
            return asked
        if steps <= self.saved_at:
            return ""
        if self.plan.verified and self._verified():
            return f"verified after {steps} steps"
        due = self.plan.every and steps - self.saved_at >= self.plan.every
        return f"after {steps} steps" if due else ""

    def _verified(self) -> bool:
        """The last thing that happened was that checks passed."""
        last = TraceEvent.objects.filter(pk=self.recorder.head or 0).values_list("kind", "ok").first()
        return last == (Kind.VERIFY, True)

    def _begin(self, label: str) -> "_Begun":
        clean = self.clean(label)[:100]
        known = frozenset(self._rows().values_list("pk", flat=True))
        begun = _Begun(clean, known, self._last_event(), time.monotonic())
        forking.request_snapshot(self.machine, clean)
        return begun

    def _finish(self, begun: "_Begun") -> Saved:
        fresh = self._rows().exclude(pk__in=begun.known).filter(label=begun.label)
        ask_again = partial(forking.request_snapshot, self.machine, begun.label)
        row = self._await(fresh.first, "No snapshot was taken", begun.since, ask_again)
        self.recorder.snapshot(
            snapshot=row.pk,
            backend=row.backend,
            keeps=row.keeps,
            size=row.size,
            ms=round((time.monotonic() - begun.at) * 1000),
            label=begun.label,
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
            guard = self.place.sandbox.guard
            self.place.sandbox = lifecycle.attach(self.machine)
            self.place.sandbox.guard = guard

    def snapshots(self) -> list[Saved]:
        return [_saved(row) for row in self._rows()]

    def fork(self, hints: Sequence[str], key: str = "") -> list[str]:
        """A wish that was granted before a worker died makes no second snapshot, and no second branches."""
        children = branching.opened(self.branch.run, key)
        if not children:
            row = self._saved_before() or Snapshot.objects.get(pk=self.snapshot(BEFORE_FORK).id)
            children = branching.fork(self.branch, row, [self.clean(hint) for hint in hints], key=key)
        return [child.name for child in children]

    def _saved_before(self) -> Snapshot | None:
        """For this very call, by a worker that died over it: nothing was done in the machine since."""
        doing = self.place.doing if self.place else ""
        calls = TraceEvent.objects.filter(trace=self.branch.run.trace_id, op_id=doing) if doing else None
        began = calls.values_list("started_at", flat=True).first() if calls is not None else None
        return self._rows().filter(label=BEFORE_FORK, made_at__gte=began).last() if began else None

    def search(self, width: int) -> None:
        trying.search(self.branch.run, width)

    def _rows(self) -> QuerySet[Snapshot]:
        return Snapshot.objects.filter(machine=self.machine)

    def _last_event(self) -> int:
        return Event.objects.filter(machine=self.machine).order_by("-pk").values_list("pk", flat=True).first() or 0

    def _await(
        self, found: Callable[[], Row | None], failure: str, since: int, ask_again: Callable[[], None] = lambda: None
    ) -> Row:
        """Until its host's worker has done it. Raises Unavailable with that worker's words.

        What a worker was doing when it died is asked for again: nobody else knows of it.
        """
        began = time.monotonic()
        asked = began
        while time.monotonic() < began + PATIENCE:
            if time.monotonic() > asked + ASK_AGAIN:
                ask_again()
                asked = time.monotonic()
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
