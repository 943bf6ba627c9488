"""A person takes over a branch's machine. `giveback` is the way back.

    asked ─▶ the agent's action ends, or is interrupted ─▶ branch seized ─▶ machine saved ─▶ its key changed ─▶ driving

`take` goes one step and says how far it came; the page calls it until the machine is the person's. From the seizing on
no worker can write to the branch, and none sends anything to the machine: the lease is nobody's, then the person's.
"""

import logging
from contextlib import suppress
from datetime import timedelta
from enum import StrEnum
from typing import Any

from django.conf import settings
from django.db.models import F, FloatField, Value
from django.utils import timezone

from sandboxes import forking, lease
from sandboxes import lifecycle as machines
from sandboxes.errors import SandboxError
from sandboxes.models import Event as MachineEvent
from sandboxes.models import Lease, Machine, Snapshot
from sandboxes.rekey import rekey
from traces.errors import TraceError
from traces.events import Actor, Fate, Kind
from traces.models import Event
from traces.payloads import Sha256

from . import lifecycle
from .handback import TOOK, close_calls, last_picture
from .leases import Lease as BranchLease
from .models import DRIVEN, ENDED, Branch, State, Takeover, Wish
from .runner import known_to, recorder_for

log = logging.getLogger(__name__)

BEFORE = "before take-over"
INTERRUPT_AFTER_SECONDS = 1
SAVE_SECONDS = 8
INTERRUPT = (
    "bash",
    "-c",
    "for shell in $(pgrep -fx 'bash --noprofile --norc --noediting -i'); do kill -INT -- -$shell; done",
)


class Stage(StrEnum):
    """How far a person has come. THEIRS: somebody else drives, or is about to."""

    FINISHING = "finishing"
    SAVING = "saving"
    YOURS = "yours"
    THEIRS = "theirs"


def branch_of(machine: Machine) -> Branch | None:
    """The one under way, or resting, in this machine."""
    mine = Branch.objects.filter(machine=machine).exclude(state__in=ENDED)
    return mine.select_related("run__task", "run__trace").order_by("-created_at").first()


def pending(machine: Machine) -> Takeover | None:
    """What somebody has asked for, or is at."""
    return Takeover.objects.filter(branch__machine=machine, ended_at=None).select_related("person").first()


def take(machine: Machine, person: Any, *, interrupt: bool = False, private: bool = True) -> Stage:
    """Raises SandboxError when the machine cannot be had; then the next call tries again.

    What a person does in `private` is not recorded; the first call decides.
    """
    held, me = lease.of(machine.pk), lease.holder_of(person)
    if held.holder == me:
        lease.settle(held)
        return Stage.YOURS
    if lease.person_id(held.holder):
        return Stage.THEIRS
    branch = branch_of(machine)
    if branch is None:
        return _given(held, me, person)
    takeover = _asked(branch, person, private)
    if takeover is None:
        return Stage.THEIRS
    if branch.state in DRIVEN and not _may_seize(branch, takeover, interrupt):
        return Stage.FINISHING
    _seize(branch)
    if held.holder and not lease.change(held, lease.NOBODY):
        return Stage.FINISHING
    if _is_saving(takeover, machine):
        return Stage.SAVING
    rekey(machine)
    _interrupt(branch, machine)
    stage = _given(held, me, person)
    if stage is Stage.YOURS:
        _begin(branch, takeover)
    return stage


def pass_on(held: Lease, to: Any, words: str) -> bool:
    """From one person to another, who is in private until they say otherwise; the branch goes on resting."""
    if not lease.change(held, lease.holder_of(to), words):
        return False
    begun = pending(held.machine)
    if begun:
        Takeover.objects.filter(pk=begun.pk).update(person_id=to.pk, private=True)
        _tell(begun.branch, words, to.get_username(), name="passed control")
    return True


def _given(held: Lease, holder: str, person: Any) -> Stage:
    if lease.change(held, holder, f"{person.get_username()} took control"):
        return Stage.YOURS
    return Stage.THEIRS if lease.person_id(held.holder) else Stage.FINISHING


def _asked(branch: Branch, person: Any, private: bool) -> Takeover | None:
    """None when another person was first."""
    wanted = {"person_id": person.pk, "private": private}
    takeover, _ = Takeover.objects.get_or_create(branch=branch, ended_at=None, defaults=wanted)
    return takeover if takeover.person_id == person.pk else None


def _may_seize(branch: Branch, takeover: Takeover, interrupt: bool) -> bool:
    """The wish keeps the agent from the next action while the last one ends."""
    Branch.objects.filter(pk=branch.pk, wish=Wish.NONE).update(wish=Wish.YIELD)
    acts = Event.objects.filter(trace=branch.run.trace_id, branch=branch.name, fate=Fate.INTENT).exists()
    waited = timezone.now() - takeover.asked_at
    patience = INTERRUPT_AFTER_SECONDS if interrupt else settings.TAKEOVER_SECONDS
    return not acts or waited > timedelta(seconds=patience)


def _seize(branch: Branch) -> None:
    """From whoever drives it: a higher fence, which every stale write is refused by."""
    now = timezone.now()
    spent = (now - branch.state_since).total_seconds() if branch.state == State.RUNNING else 0.0
    lifecycle.move(
        branch.pk,
        State.HUMAN_CONTROL,
        "A person drives the machine.",
        fence=F("fence") + 1,
        lease_until=now,
        worker="",
        wish=Wish.NONE,
        seconds=F("seconds") + Value(spent, output_field=FloatField()),
    )
    branch.refresh_from_db()


def _is_saving(takeover: Takeover, machine: Machine) -> bool:
    if not settings.TAKEOVER_SNAPSHOTS:
        return False
    now, mine = timezone.now(), Takeover.objects.filter(pk=takeover.pk)
    if mine.filter(saving_since=None).update(saving_since=now):
        forking.request_snapshot(machine, BEFORE)
        return True
    takeover.refresh_from_db()
    since = takeover.saving_since
    assert since
    takeover.snapshot = Snapshot.objects.filter(machine=machine, label=BEFORE, made_at__gte=since).first()
    if takeover.snapshot:
        mine.update(snapshot=takeover.snapshot)
        return False
    told = MachineEvent.objects.filter(machine=machine, at__gte=since, text__startswith="No snapshot was taken")
    return not told.exists() and now - since < timedelta(seconds=SAVE_SECONDS)


def _interrupt(branch: Branch, machine: Machine) -> None:
    """What the agent was not given the time to finish ends as by Ctrl-C; what it started with & goes on."""
    running = Event.objects.filter(trace=branch.run.trace_id, branch=branch.name, fate=Fate.INTENT, name="bash")
    if running.exists():
        with suppress(SandboxError), machines.attach(machine).guest() as guest:
            guest.exec(INTERRUPT, user="root", timeout=5)


def _begin(branch: Branch, takeover: Takeover) -> None:
    if not Takeover.objects.filter(pk=takeover.pk, began_at=None).update(began_at=timezone.now()):
        return
    try:
        recorder = recorder_for(branch, BranchLease(branch.pk, branch.fence), known_to(branch))
        close_calls(branch, recorder)
        Takeover.objects.filter(pk=takeover.pk).update(head=recorder.head)
        saved, since = takeover.snapshot, takeover.saving_since
        if saved and since:
            ms = round((saved.made_at - since).total_seconds() * 1000)
            recorder.snapshot(
                snapshot=saved.pk, backend=saved.backend, keeps=saved.keeps, size=saved.size, ms=ms, label=saved.label
            )
    except TraceError as error:
        log.warning("branch %s: a snapshot is missing in its trace: %s", branch.pk, error)
    who = takeover.person.get_username() if takeover.person else "somebody"
    _tell(branch, f"{who} took control", who, name=TOOK, before=last_picture(branch))


def _tell(branch: Branch, text: str, who: str, *, name: str, before: Sha256 | None = None) -> None:
    """In the trace. One that cannot be written does not keep a person from driving."""
    try:
        recorder = recorder_for(branch, BranchLease(branch.pk, branch.fence), known_to(branch))
        recorder.event(Kind.TAKEOVER, Actor.HUMAN, {"text": text, "who": who}, name=name, before=before)
    except TraceError as error:
        log.warning("branch %s: “%s” is missing in its trace: %s", branch.pk, text, error)
