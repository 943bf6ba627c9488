"""One branch's machine as its tools see it: a screen in the model's frame, a shell, files, and what the task allows."""

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from sandboxes.actions import Action
from sandboxes.base import Sandbox
from sandboxes.display.desktop import Desktop
from sandboxes.display.screen import Screen
from sandboxes.display.settle import Settled
from sandboxes.errors import Ended, Gone
from sandboxes.guest.client import Guest

from .checkers.scene import Judge, MachineScene
from .coords import Frame
from .errors import BadCall
from .history import Planned
from .placeholders import Secrets
from .policy import Policy
from .providers.base import Provider
from .verify import Check, Verdict, verify

RECONNECT_SECONDS = 5.0
RECONNECT_PAUSE = 0.05


@dataclass(frozen=True)
class Saved:
    """A snapshot that the agent can go back to."""

    id: str
    label: str
    keeps: str
    size: int


class Keeper(Protocol):
    """The machine's life. Every method raises SandboxError when it cannot be done."""

    def snapshot(self, label: str) -> Saved: ...
    def restore(self, snapshot_id: str) -> None: ...
    def snapshots(self) -> list[Saved]: ...
    def fork(self, hints: Sequence[str], key: str = "") -> list[str]:
        """New branches of the task that go on from here, one for each hint; their names. Once for each key."""

    def search(self, width: int) -> None:
        """From now on as many branches are kept going: each that fails is followed by one from the best moment."""

    def saving(self, steps: int) -> AbstractContextManager[None]:
        """Around a request to the model, after so many steps: the machine is saved meanwhile, if it is time."""


class NoKeeper:
    """For a machine that somebody else looks after."""

    def snapshot(self, label: str) -> Saved:
        raise BadCall(f"No snapshot “{label[:50]}” can be taken of this machine.")

    def restore(self, snapshot_id: str) -> None:
        raise BadCall(f"This machine cannot go back to {snapshot_id[:20]}.")

    def snapshots(self) -> list[Saved]:
        return []

    def fork(self, hints: Sequence[str], key: str = "") -> list[str]:
        raise BadCall(f"This task cannot go on in {len(hints)} branches.")

    def search(self, width: int) -> None:
        raise BadCall(f"This task cannot go on in {width} branches.")

    def saving(self, steps: int) -> AbstractContextManager[None]:
        return nullcontext()


OnHelp = Literal["wait", "continue", "stop"]
"""What becomes of a run whose agent asks for a person."""

Seen = TypeVar("Seen")
Deliver = Callable[[str, str], str]
"""Take a file out of the machine, by path and title; a word on what was taken."""


Consent = Callable[[Planned, str], bool]
"""Whether a call may be carried out that no fork undoes, by the class of what it does outside. Raises an Ending."""


def nothing_delivered(path: str, title: str) -> str:
    raise BadCall(f"Nobody takes “{title or path}” here.")


@dataclass
class Workplace:
    """`fenced` raises when this process may not act any more.

    `doing` is the id of the operation under way: what the guest does under it happens once. `patience` is after how
    many steps in a row whose checks failed the branch is given up; 0 is never. With `certain` it is given up at a step
    of which nobody knows whether it happened.
    """

    sandbox: Sandbox
    provider: Provider
    policy: Policy = field(default_factory=Policy)
    secrets: Secrets = field(default_factory=Secrets)
    checks: tuple[Check, ...] = ()
    references: Path | None = None
    judge: Judge | None = None
    keeper: Keeper = field(default_factory=NoKeeper)
    deliver: Deliver = nothing_delivered
    on_help: OnHelp = "wait"
    patience: int = 0
    certain: bool = False
    consent: Consent = lambda planned, effect: True
    fenced: Callable[[], None] = lambda: None
    doing: str = ""
    before: Screen | None = None
    _desktop: Desktop | None = field(default=None, init=False)

    def desktop(self) -> Desktop:
        """Raises Gone when the machine does not answer."""
        if self._desktop is None:
            self._desktop = self.sandbox.desktop()
        return self._desktop

    def look(self) -> Screen:
        """The screen now. A connection that a snapshot has cut is made again. Raises Gone, and Taken: see `mine`."""
        return self.mine(self._look())

    def _look(self) -> Screen:
        with suppress(Gone):
            return self.desktop().screenshot()
        deadline = time.monotonic() + RECONNECT_SECONDS
        while True:
            self.leave()
            if not self.sandbox.alive():
                raise Gone("its processes have ended.")
            try:
                return self.desktop().screenshot()
            except Ended:
                raise
            except Gone:
                if time.monotonic() > deadline:
                    raise
            time.sleep(RECONNECT_PAUSE)

    def perform(self, action: Action) -> Settled:
        """Raises Gone, Taken, BadAction. After the first two nobody knows whether it happened."""
        desktop = self.desktop()
        version = desktop.version
        self.fenced()
        desktop.perform(action)
        return self.mine(desktop.settle(version))

    def mine(self, seen: Seen) -> Seen:
        """What was seen while somebody else drove is not for the model. Raises Taken."""
        with self.sandbox.guard():
            return seen

    def leave(self) -> None:
        if self._desktop is not None:
            self._desktop.close()
            self._desktop = None

    def guest(self) -> AbstractContextManager[Guest]:
        return self.sandbox.guest()

    @property
    def frame(self) -> Frame:
        return Frame.fit(self.desktop().size, self.provider.limits(), self.provider.space())

    def verify(self, checks: Sequence[Check]) -> Verdict:
        self.look()
        scene = MachineScene(self.sandbox, self.desktop(), self.before, self.references, self.judge)
        return verify(checks, scene)
