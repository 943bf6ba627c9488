"""What an agent might do all day, invented: deeds on a desktop of `scenery.py`, and others beside it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from ..events import Fate, Finding, Outcome
from .scenery import REGIONS, SIZE, Box, Scene

COMPUTER = "computer"
GOAL = "Enter the invoices of this month into sales.ods, total them by region, and deliver the sheet"
REFUSED = "Not executed: an earlier computer action in this turn failed."
UNKNOWN = "Nobody knows whether this happened: work was interrupted while it was being done. Look at the screen."
MUSINGS = (
    "The figures have to be those of the scanned invoices, so I compare each one before I go on.",
    "The sheet has one row for every position, with product, region, and the three months.",
    "Totals come last: a formula would change while rows are still missing.",
    "If a number looks odd I check the folder with the scans again rather than guess.",
    "The window is where it was, so the coordinates from the last screen still hold.",
    "Nothing else seems to be open that could take the keyboard away.",
)
NOTES = ("Please use the net amounts.", "The region of the last invoice is West.", "Skip the credit notes.")


@dataclass(frozen=True)
class Deed:
    """A call and how it went. `shot` is the screen it leads to; None leaves that as it was."""

    name: str
    given: Mapping[str, Any]
    thought: str
    toolset: str = ""
    act: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    ok: bool = True
    fate: Fate = Fate.DONE
    shot: int | None = None


class Story:
    """The deeds of one branch, endless. `scenes` come again when all were used."""

    def __init__(self, random: Random, scenes: list[Scene], first: int = 0) -> None:
        self.random, self._scenes, self._next = random, scenes, first

    def turn(self) -> list[Deed]:
        """The calls of one reply."""
        beside = self.random.random()
        if beside < 0.06:
            return [self._command()]
        if beside < 0.09:
            return [self._file()]
        if beside < 0.10:
            return [Deed("zoom", {"region": [0, 0, 640, 400]}, "The small print needs a closer look.", COMPUTER)]
        deeds = [self._on_screen() for _ in range(self.random.choice((1, 1, 1, 1, 2)))]
        if beside > 0.985:
            return [*deeds, *self._trouble()]
        return deeds

    def reasoning(self, deeds: list[Deed]) -> str:
        return " ".join([*(deed.thought for deed in deeds), *self.random.sample(MUSINGS, self.random.randint(1, 4))])

    def findings(self, *, all_pass: bool) -> Iterator[Finding]:
        figure = f"{self.random.randrange(10_000, 99_999):,}"
        wrong = not all_pass and self.random.random() < 0.2
        seen = f"{self.random.randrange(10_000, 99_999):,}" if wrong else figure
        yield Finding("the sheet is there", "file_exists", Outcome.PASSED, "/home/agent/sales.ods", "it is there")
        yield Finding(
            "total of the North",
            "screen_text",
            Outcome.FAILED if wrong else Outcome.PASSED,
            figure,
            seen,
            region=(88, 148, 460, 624),
            similarity=0.71 if wrong else 1.0,
        )

    def box(self, deed: Deed) -> Box | None:
        return None if deed.shot is None else self._scenes[deed.shot].box

    def _on_screen(self) -> Deed:
        number = self._next % len(self._scenes)
        self._next += 1
        scene = self._scenes[number]
        return Deed(scene.name, scene.given, scene.thought, COMPUTER, scene.act, shot=number if scene.box else None)

    def _command(self) -> Deed:
        region, number = self.random.choice(REGIONS), self.random.randrange(1000)
        command = f"grep -c {region} invoices/invoice-{number:04}.txt"
        if self.random.random() < 0.1:
            text = f"grep: invoices/invoice-{number:04}.txt: No such file or directory\nexit code 2"
            return Deed("bash", {"command": command}, f"How often is {region} in it?", text=text, ok=False)
        return Deed("bash", {"command": command}, f"How often is {region} in it?", text=str(self.random.randrange(9)))

    def _file(self) -> Deed:
        path = f"/home/agent/invoices/invoice-{self.random.randrange(1000):04}.txt"
        text = f"Invoice {self.random.randrange(9999)}\nRegion: {self.random.choice(REGIONS)}\nNet: 1,204.50 EUR"
        return Deed("files", {"verb": "view", "path": path}, "The invoice itself knows best.", text=text)

    def _trouble(self) -> list[Deed]:
        x, y = SIZE[0] - 40, SIZE[1] - 40
        act = {"action": "Click", "x": x, "y": y, "button": 1, "count": 2, "holding": ""}
        given = {"coordinate": [x, y]}
        if self.random.random() < 0.3:
            return [Deed("double_click", given, "", COMPUTER, act, UNKNOWN, False, Fate.UNCERTAIN)]
        failed = Deed("double_click", given, "", COMPUTER, act, "The desktop did not take the click.", False)
        return [failed, Deed("key", {"text": "Return"}, "", COMPUTER, {}, REFUSED, False, Fate.REFUSED)]
