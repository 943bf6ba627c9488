"""A run as its page shows it: who drives, what was done lately, what it has used up, and what came of it."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import blake2b

from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404
from django.urls import reverse
from django.utils import timezone

from agents.budget import Limits
from agents.models import DRIVEN, Branch, Note, Run, State, Wish
from sandboxes.models import Machine, Snapshot
from sandboxes.models import State as MachineState
from traces.events import Kind, Recorded
from traces.models import Event
from traces.queries import Totals, events_up_to, path_totals
from traces.steps import Status, Step, steps_of

from ..access import Person, may_change_task, role_on
from .task_doing import Doing, doing
from .task_files import File, delivered
from .task_intent import Intent, intent
from .task_outcome import Outcome, outcome
from .task_stages import Stage, position, stages
from .trace_links import Links

MORE_READ = 20
STEPS_SHOWN = 60
LAST = 2**62


@dataclass(frozen=True)
class Meter:
    """What of a limit is used up. `since` is set while a clock runs."""

    name: str
    unit: str
    used: float
    allowed: float
    since: datetime | None = None

    @property
    def share(self) -> float:
        return round(min(1.0, self.used / self.allowed), 3)

    @property
    def is_short(self) -> bool:
        return self.share >= 0.8


@dataclass(frozen=True)
class Shown:
    """A step in the list and on the strip. Actions are numbered, as the limit counts them."""

    step: Step
    number: int | None
    link: str
    thumb: str

    @property
    def is_open(self) -> bool:
        return self.step.status == Status.OPEN

    @property
    def tone(self) -> str:
        tones = {Status.FAILED: "fail", Status.REFUSED: "fail", Status.UNCERTAIN: "wait", Status.OPEN: "run"}
        return "human" if self.step.by_person else tones.get(self.step.status, "")


class RunView:
    """One branch of a run: the one asked for, else the one that was chosen when all are over, else the first."""

    def __init__(self, person: Person, run: Run, branch: str = "", *, most: int = STEPS_SHOWN) -> None:
        self.person, self.run, self.task, self.trace, self.most = person, run, run.task, run.trace, most
        mine = run.branches.select_related("machine", "snapshot")
        self.branches: list[Branch] = list(mine)
        chosen = run.chosen.name if run.ended and run.chosen else ""
        wanted = branch or chosen
        found = next((each for each in self.branches if each.name == wanted or not wanted), None)
        if found is None:
            raise Http404
        found.run = run
        self.branch = found
        self.links = Links(reverse("trace", args=[run.trace_id]))

    @property
    def machine(self) -> Machine | None:
        return self.branch.machine

    @cached_property
    def may_change(self) -> bool:
        return may_change_task(self.person, self.task)

    @cached_property
    def role(self) -> str | None:
        return role_on(self.person, self.machine) if self.machine else None

    @property
    def live(self) -> bool:
        """Whether there is a desktop to look at."""
        return self.machine is not None and self.machine.state == MachineState.READY and not self.branch.ended

    @property
    def pausable(self) -> bool:
        return self.branch.state in DRIVEN and not self.branch.wish

    @property
    def resumable(self) -> bool:
        return self.branch.state == State.PAUSED

    @property
    def asks(self) -> bool:
        return self.branch.state == State.NEEDS_HELP

    @property
    def pausing(self) -> bool:
        return self.branch.state in DRIVEN and self.branch.wish == Wish.PAUSE

    @cached_property
    def events(self) -> list[Recorded]:
        """The last first."""
        return events_up_to(self.trace.pk, self.branch.name, LAST, 2 * self.most + MORE_READ)

    @cached_property
    def known_steps(self) -> list[Step]:
        """Some more than are shown."""
        return steps_of(self.events)

    @cached_property
    def steps(self) -> list[Shown]:
        """The last ones, in order."""
        number = self.totals.steps
        shown = []
        for step in reversed(self.known_steps[-self.most :]):
            counts = step.kind == Kind.ACTION and step.event.started_at is not None
            shown.append(self._shown(step, number if counts else None))
            number -= counts
        return shown[::-1]

    @cached_property
    def intent(self) -> Intent | None:
        return intent(self.branch, self.known_steps, self.totals.steps + 1)

    @property
    def next_act(self) -> str:
        """What a branch that rests does first when it goes on."""
        return self.intent.words if self.intent and self.resumable else ""

    @cached_property
    def rest(self) -> str:
        """Another one once something but its steps has changed."""
        branches = [
            (one.name, one.state, one.wish, one.question, one.detail, one.limits, one.share) for one in self.branches
        ]
        machine = (self.machine.pk, self.machine.state) if self.machine else None
        said = [note.pk for note in self.unheard]
        made = [one.pk for one in self.snapshots], [file.sha256 for file in self.files]
        words = json.dumps([branches, machine, said, made, self.task.limits], default=str)
        return blake2b(words.encode(), digest_size=6).hexdigest()

    @property
    def newest_first(self) -> list[Shown]:
        return self.steps[::-1]

    @property
    def frames(self) -> list[Shown]:
        return [shown for shown in self.steps if shown.thumb]

    @property
    def thoughts(self) -> list[Shown]:
        """One for each reply that said or thought something, the newest first."""
        found: dict[int, Shown] = {}
        for shown in self.steps:
            step = shown.step
            if (step.thought or step.said) and not step.by_person:
                found.setdefault(step.reply or step.id, shown)
        return list(found.values())[::-1]

    @cached_property
    def totals(self) -> Totals:
        """A branch that is alone has all of its trace."""
        if len(self.branches) == 1:
            return Totals(self.trace.steps, self.trace.tokens, self.trace.cost)
        return path_totals(self.trace.pk, self.events[0].id) if self.events else Totals(0, 0, 0.0)

    @cached_property
    def limits(self) -> Limits:
        return Limits.from_json({**self.task.limits, **self.branch.limits, **self.branch.share})

    @cached_property
    def meters(self) -> list[Meter]:
        since = self.clock
        seconds = (timezone.now() - since).total_seconds() if since else self.branch.seconds
        return [
            Meter("steps", "steps", self.totals.steps, self.limits.steps),
            Meter("minutes", "min", seconds / 60, self.limits.minutes, since),
            Meter("money", "$", self.totals.cost, self.limits.money),
        ]

    @cached_property
    def clock(self) -> datetime | None:
        """The moment from which the minutes count, while they do."""
        if self.branch.state not in DRIVEN or self.machine is None:
            return None
        if not self.branch.seconds:
            return self.machine.created_at
        return self.branch.state_since - timedelta(seconds=self.branch.seconds)

    @cached_property
    def doing(self) -> Doing:
        return doing(self.branch, self.steps[-1].step if self.steps else None, self.person)

    @cached_property
    def stages(self) -> list[Stage]:
        return [] if self.live else stages(self.branch)

    @property
    def position(self) -> int | None:
        return position(self.branch) if self.branch.state == State.QUEUED and self.machine is None else None

    @cached_property
    def outcome(self) -> Outcome:
        return outcome(self.branch)

    @cached_property
    def last_picture(self) -> str:
        seen = Event.objects.filter(trace=self.trace.pk, branch=self.branch.name).exclude(after="")
        found = seen.order_by("-seq").values_list("after", flat=True).first()
        return self.links.picture(found) if found else ""

    @cached_property
    def unheard(self) -> list[Note]:
        return list(Note.objects.filter(branch=self.branch, heard=False).select_related("author"))

    @cached_property
    def files(self) -> list[File]:
        return delivered(self.branch)

    @cached_property
    def snapshots(self) -> list[Snapshot]:
        return list(self.machine.snapshots.order_by("-made_at")) if self.machine else []

    def _shown(self, step: Step, number: int | None) -> Shown:
        return Shown(step, number, self.links.step(step.seq), self.links.thumb(step.after) if step.after else "")


def with_last_pictures(runs: QuerySet[Run]) -> QuerySet[Run]:
    """Each with `picture`, the hash of what it saw last."""
    seen = Event.objects.filter(trace=OuterRef("trace")).exclude(after="").order_by("-seq").values("after")[:1]
    return runs.annotate(picture=Subquery(seen))
