"""A row becomes a running loop: machine, provider, conversation and recorder; every ending becomes one state, here."""

import logging
from functools import partial
from pathlib import Path
from typing import Any

from sandboxes import forking
from sandboxes.base import Sandbox
from sandboxes.errors import Gone, SandboxError, Taken
from sandboxes.models import Machine
from sandboxes.network import Policy as NetworkPolicy
from sandboxes.slots import SlotsUsed
from traces import logsafe
from traces.errors import DiskFull, Fenced, TraceError
from traces.events import Actor, Kind, Recorder
from traces.models import Event
from traces.payloads import EventId, Sha256
from traces.pictures import Mask
from traces.queries import head_of, path_events, stored
from traces.recorder import DatabaseRecorder
from traces.redact import Redactor, placeholder

from . import approval, delivery, handback, leases, lifecycle, model_keys, places, reference_pictures, vault
from .endings import Broken, Cancelled, Ending, Finished, LimitReached, Parked, Yielded
from .errors import AgentError
from .history import Conversation, rebuild
from .holding import holding
from .judging import judge_by, record_judge
from .keeping import BranchKeeper
from .leases import Lease
from .loop import Loop
from .masking import Masker
from .models import Branch, State
from .placeholders import Secrets
from .policy import Policy
from .providers import registry
from .provisioning import machine_of
from .turns import Picture, Reply
from .verify import from_json
from .watching import RowWatch
from .workplace import Workplace

log = logging.getLogger(__name__)

BY_NAME = (
    "You can type these secrets by name, in the desktop's type, in bash and in files: {}. Write each just so, in bash "
    "without quotes around it; you never need to know its value."
)
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
        except (Fenced, Taken) as error:
            log.warning("branch %s: %s", branch_id, error)
        except SlotsUsed as error:
            Branch.objects.filter(pk=branch_id, fence=lease.fence).update(detail=f"{places.WAITING}{error}")
        except Ending as ending:
            conclude(branch, lease, watch, ending)
        except DiskFull as error:
            conclude(branch, lease, watch, Parked(str(error)))
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
        self.secrets = vault.secrets_of(self.task)
        logsafe.remember(self.secrets.values.values())
        self.clean = vault.redactor_for(self.secrets)
        self.recorder = recorder_for(branch, lease, self.clean, masker_for(self.secrets))
        self.talk = Conversation()

    def run(self) -> None:
        """Raises the Ending."""
        machine = machine_of(self.branch, self.lease, self.watch)
        try:
            with holding(machine) as sandbox:
                self.work(machine, sandbox)
        except (Broken, Gone) as error:
            is_gone = isinstance(error, Gone) or isinstance(error.__cause__, Gone)
            if is_gone and (why := forking.why_stopped(machine.pk)):
                raise Parked(f"Its machine was stopped. {why}. When it goes on, so does the machine.") from error
            raise

    def work(self, machine: Machine, sandbox: Sandbox) -> None:
        keeper = BranchKeeper(self.branch, machine, self.recorder, self.clean.text)
        kind, given = model_of(self.branch)
        provider = registry.make(kind, registry.read_options(kind, self.secrets.fill(given)), model_keys.of)
        keeper.place = place = Workplace(
            sandbox,
            provider,
            policy=Policy(NetworkPolicy(**self.task.network)),
            secrets=self.secrets,
            checks=from_json(self.secrets.fill(self.task.checks)),
            references=reference_pictures.folder_of(self.task.pk),
            judge=judge_by(provider, self.watch.wait, self.paid),
            keeper=keeper,
            on_help=self.task.on_help,  # type: ignore[arg-type]
            patience=keeper.plan.patience,
            certain=keeper.plan.uncertain,
            consent=partial(approval.consent, self.branch, keeper),
            deliver=lambda path, title: delivery.take_out(
                self.branch, place.sandbox, self.recorder, path, title, self.clean.text
            ),
            fenced=self.lease.check,
        )
        self.begin(place)
        handback.tell(self.branch, place, self.recorder)
        self.talk = conversation(self.branch)
        if self.watch.notes():
            self.talk.settle()
        if self.branch.hint and not head_of(self.trace.pk, self.branch.name):
            self.hint(self.talk)
        lifecycle.move(self.branch.pk, State.RUNNING)
        Loop(SYSTEM, place, self.recorder, self.talk, self.watch).run(self.goal())

    def begin(self, place: Workplace) -> None:
        """Until somebody has said something: whoever died meanwhile may have put in nothing, or half of it."""
        if self.recorder.head is None:
            self.recorder.event(Kind.OBSERVATION, Actor.SYSTEM, {"machine": self.branch.machine_id}, name="machine")
        said = Event.objects.filter(trace=self.trace, branch=self.branch.name, kind=Kind.MESSAGE)
        if self.branch.forked_at is None and not said.exists():
            delivery.put_in(self.task, place.sandbox, self.recorder)

    def paid(self, reply: Reply) -> None:
        """What a judge costs counts for the branch, as its own replies do."""
        self.talk.paid(reply.usage, reply.cost)
        record_judge(self.recorder, reply)

    def goal(self) -> str:
        names = [attachment.name for attachment in self.task.attachments.all()]
        written = [placeholder(name) for name in self.secrets.values]
        parts = (
            self.task.goal,
            f"In your home folder: {', '.join(names)}." if names else "",
            BY_NAME.format(", ".join(written)) if written else "",
        )
        return "\n\n".join(filter(None, parts))

    def hint(self, talk: Conversation) -> None:
        text = f"You are one of several branches of this task. Go on from here this way: {self.branch.hint}"
        self.recorder.message(Actor.SYSTEM, text, turn=talk.replies, name="hint")
        talk.said(text)


def model_of(branch: Branch) -> tuple[str, dict[str, Any]]:
    """Which provider, and its options: the branch's own, else the task's."""
    task = branch.run.task
    return branch.model.get("provider") or task.provider, branch.model.get("options") or task.options


def recorder_for(branch: Branch, lease: Lease, redactor: Redactor, mask: Mask | None = None) -> Recorder:
    trace = branch.run.trace
    head = head_of(trace.pk, branch.name) or (EventId(branch.forked_at) if branch.forked_at else None)
    return DatabaseRecorder(trace, branch.name, lease.guard, head, redactor=redactor, mask=mask)


def masker_for(secrets: Secrets) -> Mask | None:
    """None when there is nothing to look for, for looking takes a second for each picture."""
    return Masker(tuple(secrets.values.values())) if secrets else None


def conversation(branch: Branch) -> Conversation:
    """Of one that was under way when its worker died, what the last calls mean may be left to be seen to."""
    trace_id = branch.run.trace_id
    head = head_of(trace_id, branch.name) or branch.forked_at
    talk = rebuild(path_events(trace_id, EventId(head)), picture) if head else Conversation()
    if branch.state != State.RUNNING:
        talk.settle()
    return talk


def picture(sha256: Sha256) -> Picture:
    kept = stored(sha256)
    return Picture(kept.data, kept.media_type, kept.width or 0, kept.height or 0)


def conclude(branch: Branch, lease: Lease, watch: RowWatch, ending: Ending) -> None:
    """The one place where an ending becomes a state."""
    columns: dict[str, object] = {"seconds": watch.seconds, "wish": ""}
    clean = known_to(branch)
    try:
        recorder = recorder_for(branch, lease, clean)
        if isinstance(ending, LimitReached):
            recorder.limit(ending.name, str(ending), allowed=ending.allowed, used=ending.used)
        elif isinstance(ending, Broken):
            recorder.error("broken", str(ending), permanent=True)
        lease.guard()
    except TraceError as error:
        log.warning("branch %s ended, and its end could not be written: %s", branch.pk, error)
        if isinstance(error, Fenced):
            return
    if isinstance(ending, Finished):
        verdict = clean.json(ending.verdict.to_json()) if ending.verdict else None
        columns |= {"claim": clean.text(str(ending)), "verdict": verdict}
    to, detail = state_of(ending), clean.text(str(ending))
    if isinstance(ending, Parked):
        lifecycle.rest(branch.pk, to, detail, **columns, question=clean.text(ending.question))
    else:
        lifecycle.move(branch.pk, to, detail, **columns)


def known_to(branch: Branch) -> Redactor:
    """Also for a task whose secrets cannot be read any more: then none of them was used."""
    try:
        return vault.cleaner_of(branch.run.task)
    except AgentError:
        return vault.redactor_for(Secrets())


def state_of(ending: Ending) -> State:
    if isinstance(ending, Finished):
        if ending.verdict is None or ending.verdict.passed:
            return State.SUCCEEDED
        return State.FAILED if ending.verdict.failed else State.INFRA_ERROR
    if isinstance(ending, Yielded):
        return State.HUMAN_CONTROL
    if isinstance(ending, Parked):
        return State.NEEDS_HELP if ending.question else State.PAUSED
    if isinstance(ending, Cancelled):
        return State.CANCELLED
    return State.INFRA_ERROR if isinstance(ending, Broken) else State.FAILED


def reconcile() -> None:
    """Branches that nobody drives get a worker, whatever became of the message about them.

    Those that wait for a place get theirs from `places.hand_out`.
    """
    waiting = set(places.waiting().values_list("pk", flat=True))
    for branch_id in leases.expired():
        if branch_id not in waiting:
            lifecycle.enqueue(branch_id)


def end_bereft() -> None:
    """Whoever works in a machine notices its end at once; those that wait for a model get theirs here."""
    for branch in leases.bereft():
        assert branch.machine
        lease = leases.take_over(branch.pk)
        broken = Broken(f"The machine is {branch.machine.state}: {branch.machine.detail}")
        conclude(branch, lease, RowWatch(branch, lease), broken)
