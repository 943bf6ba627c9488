"""What is drawn over a step's picture, as SVG shapes in its pixels: one description for template and script."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from unicodedata import east_asian_width

from traces.events import Kind, Outcome
from traces.steps import Corners, Step

Size = tuple[int, int]
Value = str | float
Place = tuple[float, float, float, float]
"""Left, top, width and height."""

USUAL: Size = (1280, 800)
LONGEST = 48
ROWS = 24
TONES = {Outcome.PASSED: ("pass", "✓"), Outcome.FAILED: ("fail", "✗"), Outcome.ERRORED: ("wait", "!")}


@dataclass(frozen=True)
class Shape:
    tag: str
    attributes: Mapping[str, Value]
    text: str = ""

    def as_json(self) -> list[object]:
        return [self.tag, self.attributes, self.text] if self.text else [self.tag, self.attributes]


@dataclass
class Pen:
    """Draws as large as looks right on a picture of this size, and keeps labels inside it."""

    size: Size
    shapes: list[Shape] = field(default_factory=list)
    labels: list[Place] = field(default_factory=list)

    def length(self, pixels: float) -> float:
        """As long as `pixels` are on a picture of the usual size."""
        return round(pixels * self.size[0] / USUAL[0], 1)

    def add(self, tag: str, look: str, /, text: str = "", **attributes: Value) -> None:
        named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        self.shapes.append(Shape(tag, {"class": look, **named}, text))

    def ring(self, x: float, y: float) -> None:
        for look, width in (("dark", 9), ("light", 4)):
            self.add("circle", look, cx=x, cy=y, r=self.length(18), stroke_width=self.length(width))

    def line(self, points: Iterable[tuple[int, int]]) -> None:
        way = " ".join(f"{x},{y}" for x, y in points)
        for look, width in (("dark", 9), ("light", 4)):
            self.add("polyline", look, points=way, stroke_width=self.length(width))

    def box(self, corners: Corners, look: str) -> None:
        x, y, width, height = corners
        self.add("rect", f"{look} edge", x=x, y=y, width=width, height=height, stroke_width=self.length(5))
        self.add("rect", look, x=x, y=y, width=width, height=height, stroke_width=self.length(2.5))

    def label(self, x: float, y: float, text: str, look: str = "plain") -> None:
        """With its lower left corner there, or as near as it fits."""
        height, letter, pad = self.length(30), self.length(11.4), self.length(8)
        width = round(wide(text) * letter + 2 * pad, 1)
        left = max(0.0, min(x, self.size[0] - width))
        top = self._free(left, max(0.0, min(y - height, self.size[1] - height)), width, height)
        self.add("rect", f"tag {look}", x=left, y=top, width=width, height=height, rx=self.length(5))
        baseline = round(top + height * 0.7, 1)
        self.add("text", f"tag {look}", text, x=left + pad, y=baseline, font_size=self.length(19))

    def _free(self, left: float, top: float, width: float, height: float) -> float:
        """The nearest height at which the label covers no other one; as it is when the picture is full of them."""
        pitch = height + self.length(2)
        tops = [round(top + side * rows * pitch, 1) for rows in range(ROWS) for side in (1, -1)]
        inside = [each for each in tops if 0 <= each <= self.size[1] - height]
        free = next((each for each in inside if not any(_meet(left, each, width, other) for other in self.labels)), top)
        self.labels.append((left, free, width, height))
        return free

    def number(self, x: float, y: float, number: int) -> None:
        """In a pill around that point."""
        height, width = self.length(30), self.length(18 + 11.4 * len(str(number or 100)))
        x = min(max(x, width / 2), self.size[0] - width / 2)
        y = min(max(y, height / 2), self.size[1] - height / 2)
        look, left, top = "tag number", round(x - width / 2, 1), round(y - height / 2, 1)
        self.add("rect", look, x=left, y=top, width=width, height=height, rx=round(height / 2, 1))
        self.add("text", look, str(number or ""), x=x, y=round(y + height * 0.22, 1), font_size=self.length(19))


def _meet(left: float, top: float, width: float, other: Place) -> bool:
    x, y, its_width, height = other
    return left < x + its_width and x < left + width and abs(top - y) < height


def wide(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"


def shapes(step: Step, number: int, size: Size | None) -> dict[str, list[Shape]]:
    """By layer: `marks` of what was done, `boxes` around what changed, `checks` where something was looked for."""
    whole = size or USUAL
    layers = {"marks": marks(step, number, whole), "boxes": boxes(step, whole), "checks": checks(step, whole)}
    return {name: found for name, found in layers.items() if found}


def marks(step: Step, number: int, size: Size) -> list[Shape]:
    pen, points = Pen(size), step.marks.points
    if len(points) > 1:
        pen.line(points)
    for x, y in dict.fromkeys((*points[:1], *points[-1:])):
        pen.ring(x, y)
    if points:
        x, y = points[-1]
        pen.number(x + pen.length(38), y - pen.length(26), number)
    if step.marks.typed:
        pen.label(*where_typed(step, size), f"⌨ {short(step.marks.typed)}", "typed")
    return pen.shapes


def where_typed(step: Step, size: Size) -> tuple[float, float]:
    """Above the largest change, where the letters most likely went; else at the bottom."""
    if step.marks.changed:
        x, y, *_ = max(step.marks.changed, key=lambda box: box[2] * box[3])
        return x, y
    return size[0] * 0.05, size[1] * 0.95


def boxes(step: Step, size: Size) -> list[Shape]:
    pen = Pen(size)
    for corners in step.marks.changed:
        pen.box(corners, "changed")
    return pen.shapes


def checks(step: Step, size: Size) -> list[Shape]:
    pen = Pen(size)
    for finding in step.event.data.get("findings", ()) if step.kind == Kind.VERIFY else ():
        if not finding.get("region"):
            continue
        tone, sign = TONES[Outcome(finding["outcome"])]
        x, y, width, height = finding["region"]
        pen.box((x, y, width, height), tone)
        alike = f" {finding['similarity']:.2f}" if finding.get("similarity") is not None else ""
        pen.label(x, y, f"{sign} {short(finding['name'])} {finding['outcome']}{alike}", tone)
    return pen.shapes
