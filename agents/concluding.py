"""What a batch of calls means for the task, once every one of them has its answer."""

from collections.abc import Sequence

from traces.events import Actor, Fate

from .endings import Ending, Finished, Lost, Stuck
from .history import Planned
from .journal import Journal
from .performing import prepare
from .repeats import Repeats
from .tools.computer import TOOLSET
from .tools.registry import tool
from .verify import Moment, due
from .workplace import Workplace

UNCERTAIN = "Nobody knows whether this happened: {}. Work was interrupted while it was being done."
MOST_CLAIMS = 3


class Conclusions:
    def __init__(self, place: Workplace, journal: Journal) -> None:
        self.place, self.journal, self.talk = place, journal, journal.talk
        self.repeats, self.losing = Repeats(), 0

    def draw(self, batch: Sequence[Planned], ending: Ending | None, *, changed: bool) -> None:
        """Raises the Ending."""
        unknown = [one.call.name for one in batch if one.fate is Fate.UNCERTAIN]
        if unknown and self.place.certain:
            raise Lost(UNCERTAIN.format(", ".join(unknown)))
        if isinstance(ending, Finished):
            self.claimed(ending)
        elif ending:
            raise ending
        self.verify_step()
        self.repeats.saw([planned.result for planned in batch if planned.result], changed)
        if self.repeats.hopeless:
            raise Stuck("The same actions were repeated, and nothing changed.")
        if self.repeats.word:
            self.journal.say(Actor.SYSTEM, self.repeats.word, "repeat")

    def claimed(self, ending: Finished) -> None:
        """A claim that the checks do not bear out goes back to the model; an errored check is not its fault."""
        if ending.verdict:
            self.journal.verdict(ending.verdict, self.place.checks, "done", self.place.look())
        self.talk.claims += 1
        if ending.verdict is None or not ending.verdict.failed or self.talk.claims >= MOST_CLAIMS:
            raise ending

    def verify_step(self) -> None:
        if checks := due(self.place.checks, Moment.STEP):
            verdict = self.place.verify(checks)
            self.journal.verdict(verdict, checks, "step", self.place.look())
            if verdict.failed:
                self.journal.say(Actor.VERIFIER, verdict.difference(), "check")
            self.losing = self.losing + 1 if verdict.failed else 0
            if 0 < self.place.patience <= self.losing:
                raise Lost(f"The checks of {self.losing} steps in a row failed. {verdict.difference()}")


def ending_of(planned: Planned, place: Workplace) -> Ending | None:
    """Of a call that another worker answered, and died before it could end the branch: it is asked for once more."""
    call, result = planned.call, planned.result
    if planned.fate is not Fate.DONE or not (result and result.ok) or call.toolset == TOOLSET:
        return None
    if not tool(call.name).may_end(call.input):
        return None
    place.doing, place.before = planned.op_id, place.look()
    return prepare(call, place).run(place.before).outcome.ending
