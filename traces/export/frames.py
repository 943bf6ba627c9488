"""Steps as pictures of a film: the screen, on it what was done, and under it what that was."""

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from PIL import Image, ImageDraw

from ..events import Kind, Outcome
from ..payloads import Sha256
from ..steps import Status, Step
from .base import Material, durations
from .cards import title_card
from .lettering import fitted, font_for
from .marking import badge, box, path_of_drag, ring

Size = tuple[int, int]

NIGHT, STAGE, WHITE, GREY, AMBER = "#16191c", "#2a2d31", "#f5f5f2", "#9aa0a6", "#e0a030"
GREEN, RED, VIOLET = "#3fb26f", "#e5584f", "#9b7bea"
TONES = {Status.FAILED: RED, Status.UNCERTAIN: AMBER, Status.REFUSED: RED}
WORDS = {Status.FAILED: "failed", Status.UNCERTAIN: "uncertain", Status.REFUSED: "refused"}
OUTCOMES = {Outcome.PASSED: GREEN, Outcome.FAILED: RED, Outcome.ERRORED: AMBER}


@dataclass(frozen=True)
class Frame:
    picture: Image.Image
    seconds: float
    step: int


def thinned(steps: Sequence[Step], most: int) -> list[Step]:
    """Evenly, with the first and the last."""
    if len(steps) <= most:
        return list(steps)
    return [steps[round(number * (len(steps) - 1) / (most - 1))] for number in range(most)]


class Film:
    """`size` is that of a frame: even numbers, at most `widest` across."""

    def __init__(self, material: Material, steps: Sequence[Step], widest: int) -> None:
        self._material = material
        self._steps = steps
        self._seconds = durations(steps)
        self._native = self._first_size()
        self._scale = min(1.0, widest / self._native[0])
        width, height = (max(2, round(side * self._scale) // 2 * 2) for side in self._native)
        self._bar = max(36, width * 5 // 100 // 2 * 2)
        self._stage = (width, height)
        self.size = (width, height + self._bar)
        self._shown: Image.Image | None = None

    def frames(self) -> Iterator[Frame]:
        """What was done is shown on the screen before it, and then the screen after it."""
        for number, (step, seconds) in enumerate(zip(self._steps, self._seconds, strict=True)):
            pictures = [self._marked(step)]
            if step.before and step.after and step.before != step.after:
                pictures.append(self._seen(step.after))
            for picture in pictures:
                yield Frame(self._with_caption(picture, number), seconds / len(pictures), number)

    def captions(self) -> Iterator[tuple[float, float, str]]:
        """From when to when, and what to read."""
        start = 0.0
        for number, (step, seconds) in enumerate(zip(self._steps, self._seconds, strict=True), 1):
            yield start, start + seconds, f"{number}. {step.sentence}"
            start += seconds

    def _first_size(self) -> Size:
        """Of the largest screen: pictures that were cut out of one are smaller."""
        known = {sha256 for step in self._steps for sha256 in (step.before, step.after) if sha256}
        sizes = {(held.width or 0, held.height or 0) for held in map(self._material.blob, known)}
        return max(sizes, key=lambda size: size[0] * size[1], default=(1280, 800))

    def _seen(self, sha256: Sha256 | None) -> Image.Image:
        """The screen, or the last one when there is none."""
        if sha256 is None:
            return (self._shown or title_card(self._stage, self._material.facts)).copy()
        with Image.open(io.BytesIO(self._material.blob(sha256).read())) as picture:
            fits = picture.convert("RGB")
        if fits.size != self._stage:
            fits.thumbnail(self._stage)
            stage = Image.new("RGB", self._stage, STAGE)
            stage.paste(fits, ((self._stage[0] - fits.width) // 2, (self._stage[1] - fits.height) // 2))
            fits = stage
        self._shown = fits.copy()
        return fits

    def _marked(self, step: Step) -> Image.Image:
        picture = self._seen(step.before)
        points = [self._placed(x, y) for x, y in step.marks.points]
        if len(points) > 1:
            path_of_drag(picture, points)
        elif points:
            ring(picture, points[0])
        if step.marks.typed:
            badge(picture, step.marks.typed)
        for finding in step.event.data["findings"] if step.kind == Kind.VERIFY else ():
            if finding["region"]:
                x, y, width, height = finding["region"]
                corners = (*self._placed(x, y), *self._placed(x + width, y + height))
                box(picture, corners, OUTCOMES[Outcome(finding["outcome"])], finding["name"])
        return picture

    def _placed(self, x: int, y: int) -> tuple[int, int]:
        """On the frame, or at its edge: a trace may have come from anywhere."""
        width, height = self._stage
        return min(width, max(0, round(x * self._scale))), min(height, max(0, round(y * self._scale)))

    def _with_caption(self, picture: Image.Image, number: int) -> Image.Image:
        step = self._steps[number]
        frame = Image.new("RGB", self.size, NIGHT)
        frame.paste(picture, (0, 0))
        pen = ImageDraw.Draw(frame)
        top, width = self._stage[1], self._stage[0]
        done = width * (number + 1) // len(self._steps)
        pen.rectangle((0, top, done, top + 2), fill=TONES.get(step.status, VIOLET if step.by_person else AMBER))
        self._letter(pen, step, number, top, width)
        return frame

    def _letter(self, pen: ImageDraw.ImageDraw, step: Step, number: int, top: int, width: int) -> None:
        size, middle, gap = self._bar * 2 // 5, top + self._bar // 2 + 1, self._bar // 2
        count, word = f"{number + 1}/{len(self._steps)}", self._word(step)
        mono, bold = font_for(count, size * 9 // 10, mono=True), font_for(word, size, weight=600)
        font = font_for(step.sentence, size, weight=550)
        left = gap * 1.6 + mono.getlength("0" * (2 * len(str(len(self._steps))) + 1))
        right = width - gap - (bold.getlength(word) + gap if word else 0)
        pen.text((gap, middle), count, font=mono, fill=GREY, anchor="lm")
        pen.text((left, middle), fitted(step.sentence, font, right - left), font=font, fill=WHITE, anchor="lm")
        pen.text((width - gap, middle), word, font=bold, fill=TONES.get(step.status, VIOLET), anchor="rm")

    def _word(self, step: Step) -> str:
        return WORDS.get(step.status) or ("by a person" if step.by_person else "")
