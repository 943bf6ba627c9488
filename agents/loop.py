"""Perceive, plan, act, verify. The loop knows neither the vendor of the model nor the maker of the machine.

Everything is written before it is done: the reply before the first action, the intent before each. Whoever takes over
a branch goes on from there. An action whose fate nobody knows is never done again: the model is told, and looks.
"""

from collections.abc import Sequence
from typing import Any, NoReturn

from sandboxes.display.screen import Screen
from sandboxes.errors import Gone
from traces.events import Actor, Fate, Recorder

from .album import Album
from .concluding import Conclusions, ending_of
from .effects import effect_of
from .endings import Broken, GaveUp
from .errors import BadCall, NotAllowed, ProviderError
from .history import Conversation, Planned
from .journal import Journal
from .performing import Performed, prepare
from .providers.retry import complete_with_patience
from .tools.computer import TOOLSET
from .tools.registry import all_tools
from .watch import Watch
from .workplace import Workplace

NOT_KNOWN = "Not executed: work was interrupted, and a secret in this call is not known any more. Ask again."
FORBIDDEN = "Not executed: a person did not allow what leaves the machine ({})."
NOT_EXECUTED = "Not executed: an earlier computer action in this turn failed."
GO_ON = "You called no tool. Go on with the task, or say `done` when it is finished."
MOST_IDLE = 2
MOST_NONSENSE = 1


class Loop:
    def __init__(self, system: str, place: Workplace, recorder: Recorder, talk: Conversation, watch: Watch) -> None:
        self.system, self.place, self.talk, self.watch = system, place, talk, watch
        self.journal = Journal(recorder, Album(recorder, lambda: place.frame), talk)
        self.conclusions = Conclusions(place, self.journal)
        self.idle = self.nonsense = 0

    def run(self, goal: str) -> NoReturn:
        """Raises an Ending, and Fenced when another has taken over the branch."""
        try:
            if not self.talk.turns:
                self.journal.say(Actor.HUMAN, goal, "goal", self.place.look())
            while True:
                if not self.talk.pending:
                    self.ask()
                self.carry_out()
        except Gone as error:
            raise Broken(f"The machine does not answer any more: {error}") from error
        except ProviderError as error:
            raise Broken(f"The model's service gave no reply: {error}") from error
        finally:
            self.place.leave()

    def ask(self) -> None:
        for name, note in self.watch.notes():
            self.journal.say(Actor.HUMAN, note, name, self.place.look())
        self.watch.look(self.talk)
        specs = [tool.spec() for tool in all_tools().values()]
        with self.place.keeper.saving(self.talk.steps):
            talk, wait = self.talk.turns, self.watch.wait
            reply = complete_with_patience(self.place.provider, self.system, talk, specs, wait=wait)
        self.journal.replied(reply)
        self.idle = 0 if reply.calls else self.idle + 1
        if self.idle > MOST_IDLE:
            raise GaveUp("The model neither acted nor said that it is done.")
        if not reply.calls:
            self.journal.say(Actor.SYSTEM, GO_ON, "nudge")

    def carry_out(self) -> None:
        """The batch in order, until one fails; what has a result was done before somebody took over."""
        batch, changed, ending = self.talk.pending, False, None
        for planned in batch:
            if planned.result:
                ending = ending_of(planned, self.place) or ending
            elif any(one.result and not one.result.ok for one in batch):
                self.refuse(planned, NOT_EXECUTED)
            elif planned.hidden and planned.fate is Fate.PLANNED:
                self.refuse(planned, NOT_KNOWN)
            elif performed := self.act(planned, shows=planned is _last_on_desktop(batch)):
                changed |= performed.change.ratio > 0
                ending = performed.outcome.ending or ending
        self.talk.answered()
        if self.nonsense > MOST_NONSENSE:
            raise GaveUp("The model keeps asking for what cannot be done.")
        if batch:
            self.conclusions.draw(batch, ending, changed=changed)

    def act(self, planned: Planned, *, shows: bool) -> Performed | None:
        """None when it was not, or perhaps not, carried out."""
        try:
            prepared = prepare(planned.call, self.place)
        except (BadCall, NotAllowed) as error:
            self.forbid(planned, error)
            return None
        self.watch.look(self.talk)
        before = self.place.look()
        if planned.fate is Fate.INTENT and not prepared.repeatable:
            self.journal.unknown(planned, before)
            return None
        if planned.fate is Fate.PLANNED and not self.begin(planned, prepared.act, before):
            return None
        self.place.doing, self.place.before, self.nonsense = planned.op_id, before, 0
        try:
            performed = prepared.run(before)
        except Gone:
            self.journal.unknown(planned, self.place.look())
            return None
        self.journal.close(planned, performed, shows=shows)
        return performed

    def begin(self, planned: Planned, act: dict[str, Any], before: Screen) -> bool:
        """Written down; False when somebody said that it must not be done."""
        effect = effect_of(planned.call, act, self.place, before)
        if effect and not self.place.consent(planned, effect):
            self.journal.recorder.policy("approval", FORBIDDEN.format(effect), action=planned.id)
            self.refuse(planned, FORBIDDEN.format(effect))
            return False
        self.journal.intend(planned, {**act, "irreversible": effect} if effect else act)
        return True

    def forbid(self, planned: Planned, error: BadCall | NotAllowed) -> None:
        if isinstance(error, NotAllowed):
            self.journal.recorder.policy("network", str(error), action=planned.id)
        else:
            self.nonsense += 1
        self.refuse(planned, str(error))

    def refuse(self, planned: Planned, text: str) -> None:
        """With the screen where the model would see it, and what was done before may have changed it."""
        batch = self.talk.pending
        shows = planned is _last_on_desktop(batch) and any(one.fate in (Fate.DONE, Fate.UNCERTAIN) for one in batch)
        self.journal.refuse(planned, text, self.place.look() if shows else None)


def _last_on_desktop(batch: Sequence[Planned]) -> Planned | None:
    """A zoom shows its own part of the screen, and never the whole."""
    acts = (planned for planned in reversed(batch) if planned.call.toolset == TOOLSET)
    return next((planned for planned in acts if planned.call.name != "zoom"), None)
