"""A row becomes a running loop: machine, provider, conversation and recorder; every ending becomes one state, here."""

import logging
from pathlib import Path

from django.conf import settings

from sandboxes import forking
from sandboxes import lifecycle as machines
from sandboxes.errors import SandboxError
from sandboxes.models import Machine
from sandboxes.models import State as MachineState
from sandboxes.network import Policy as NetworkPolicy
from traces.errors import Fenced, TraceError
from traces.events import Actor, Kind, Recorder
from traces.payloads import EventId, Sha256
from traces.queries import head_of, path_events, stored
from traces.recorder import DatabaseRecorder
from traces.redact import Redactor

from . import delivery, leases, lifecycle
from .endings import Broken, Cancelled, Ending, Finished, LimitReached, Parked
from .errors import AgentError
from .history import Conversation, rebuild
from .judging import judge_by
from .keeping import BranchKeeper, wait_until_ready
from .leases import Lease
from .loop import Loop
from .models import Branch, State
from .policy import Policy
from .providers import registry
from .turns import Picture
from .verify import from_json
from .watching import RowWatch
from .workplace import Workplace

log = logging.getLogger(__name__)

SYSTEM = (Path(__file__).parent / "prompts/system.md").read_text()


def drive(branch_id: str) -> None:
    """Until it ends, rests, or somebody else drives it. Harmless when nobody should."""
    lease = leases.claim(branch_id)
    if lease is None:
        return
    with lease.kept():
        branch = Branch.objects.select_related("run__task__owner", "run__trace").get(pk=branch_id)
        watch = RowWatch(branch, lease)
        try:
            Driver(branch, lease, watch).run()
        except Fenced as error:
            log.warning("branch %s: %s", branch_id, error)
        except Ending as ending:
            conclude(branch, lease, watch, ending)
        except (AgentError, SandboxError, TraceError) as error:
            conclude(branch, lease, watch, Broken(str(error)))
        except Exception:
            log.exception("branch %s", branch_id)
            mistake = "GodHand made a mistake; ./godhand logs agents has the details."
            conclude(branch, lease, watch, Broken(mistake))


class Driver:
    def __init__(self, branch: Branch, lease: Lease, watch: RowWatch) -> None:
        self.branch, self.lease, self.watch = branch, lease, watch
        self.task, self.trace = branch.run.task, branch.run.trace
        self.recorder = recorder_for(branch, lease)

    def run(self) -> None:
        """Raises the Ending."""
        machine = self.machine()
        sandbox = machines.attach(machine)
        keeper = BranchKeeper(self.branch, machine, self.recorder)
        provider = registry.make(self.task.provider, registry.read_options(self.task.provider, self.task.options))
        keeper.place = place = Workplace(
            sandbox,
            provider,
            policy=Policy(NetworkPolicy(**self.task.network)),
            checks=from_json(self.task.checks),
            references=settings.HOST.home / "references" / self.task.pk,
            judge=judge_by(provider, self.watch.wait),
            keeper=keeper,
            deliver=lambda path, title: delivery.take_out(self.branch, place.sandbox, self.recorder, path, title),
            fenced=self.lease.check,
        )
        talk = conversation(self.branch)
        if self.recorder.head is None:
            self.begin(place)
        if self.branch.hint and not head_of(self.trace.pk, self.branch.name):
            self.hint(talk)
        lifecycle.move(self.branch.pk, State.RUNNING)
        Loop(SYSTEM, place, self.recorder, talk, self.watch).run(self.goal())

    def machine(self) -> Machine:
        """Woken when it was stopped for being idle, made when there is none yet.

        One that was lost is not replaced: what was done in it is gone.
        """
        if self.branch.machine is None:
            lifecycle.move(self.branch.pk, State.PROVISIONING)
            self.branch.machine = self.new_machine()
            Branch.objects.filter(pk=self.branch.pk, fence=self.lease.fence).update(machine=self.branch.machine)
        elif self.branch.machine.state == MachineState.STOPPED:
            forking.request_resume(self.branch.machine)
        return wait_until_ready(self.branch.machine.pk, self.watch.wishes)

    def new_machine(self) -> Machine:
        name = f"{self.branch.run_id}-{self.branch.name}"
        if self.branch.snapshot:
            return forking.request_fork(self.branch.snapshot, self.task.owner, name=name)
        network = NetworkPolicy(**self.task.network)
        kind, image = self.task.backend, self.task.image
        return machines.request_machine(self.task.owner, image=image, name=name, kind=kind, network=network)

    def begin(self, place: Workplace) -> None:
        self.recorder.event(Kind.OBSERVATION, Actor.SYSTEM, {"machine": self.branch.machine_id}, name="machine")
        delivery.put_in(self.task, place.sandbox, self.recorder)

    def goal(self) -> str:
        names = [attachment.name for attachment in self.task.attachments.all()]
        return f"{self.task.goal}\n\nIn your home folder: {', '.join(names)}." if names else self.task.goal

    def hint(self, talk: Conversation) -> None:
        text = f"You are one of several branches of this task. Go on from here this way: {self.branch.hint}"
        self.recorder.message(Actor.SYSTEM, text, turn=talk.replies, name="hint")
        talk.said(text)


def recorder_for(branch: Branch, lease: Lease) -> Recorder:
    trace = branch.run.trace
    head = head_of(trace.pk, branch.name) or (EventId(branch.forked_at) if branch.forked_at else None)
    return DatabaseRecorder(trace, branch.name, lease.guard, head, redactor=Redactor(registry.keys()))


def conversation(branch: Branch) -> Conversation:
    trace_id = branch.run.trace_id
    head = head_of(trace_id, branch.name) or branch.forked_at
    return rebuild(path_events(trace_id, EventId(head)), picture) if head else Conversation()


def picture(sha256: Sha256) -> Picture:
    kept = stored(sha256)
    return Picture(kept.data, kept.media_type, kept.width or 0, kept.height or 0)


def conclude(branch: Branch, lease: Lease, watch: RowWatch, ending: Ending) -> None:
    """The one place where an ending becomes a state."""
    columns: dict[str, object] = {"seconds": watch.seconds, "wish": ""}
    try:
        recorder = recorder_for(branch, lease)
        if isinstance(ending, LimitReached):
            recorder.limit(ending.name, str(ending), allowed=ending.allowed, used=ending.used)
        elif isinstance(ending, Broken):
            recorder.error("broken", str(ending), permanent=True)
        lease.guard()
    except TraceError as error:
        log.warning("branch %s ended, and its end could not be written: %s", branch.pk, error)
        if isinstance(error, Fenced):
            return
    if isinstance(ending, Parked):
        columns["question"] = ending.question
    if isinstance(ending, Finished):
        columns |= {"claim": str(ending), "verdict": ending.verdict.to_json() if ending.verdict else None}
    lifecycle.move(branch.pk, state_of(ending), str(ending), **columns)


def state_of(ending: Ending) -> State:
    if isinstance(ending, Finished):
        if ending.verdict is None or ending.verdict.passed:
            return State.SUCCEEDED
        return State.FAILED if ending.verdict.failed else State.INFRA_ERROR
    if isinstance(ending, Parked):
        return State.NEEDS_HELP if ending.question else State.PAUSED
    if isinstance(ending, Cancelled):
        return State.CANCELLED
    return State.INFRA_ERROR if isinstance(ending, Broken) else State.FAILED


def reconcile() -> None:
    """Branches that nobody drives get a worker, whatever became of the message about them."""
    for branch_id in leases.expired():
        lifecycle.enqueue(branch_id)
