"""What all kinds of film share."""

from abc import abstractmethod
from html import escape
from pathlib import Path
from typing import ClassVar

from ..errors import NotPossible
from ..steps import steps_of
from . import ffmpeg
from .base import Exporter, Material, Progress, Size
from .frames import Film, thinned

RATE = 5


class FilmExporter(Exporter):
    one_branch: ClassVar[bool] = True
    widest: ClassVar[int]

    @classmethod
    def unavailable_reason(cls) -> str | None:
        return ffmpeg.missing()

    @classmethod
    def warning(cls, size: Size) -> str:
        if cls.most_steps is None or size.steps <= cls.most_steps:
            return ""
        return f"Shows {cls.most_steps} of about {size.steps} steps, evenly chosen. Choose a range to see each."

    def write(self, material: Material, out: Path, progress: Progress) -> None:
        steps = steps_of(material.path(material.best()))
        if not any(step.before for step in steps):
            raise NotPossible("There is no picture to show between these steps.")
        chosen = thinned(steps, self.most_steps or len(steps))
        film = Film(material, chosen, self.widest)
        progress.expect(len(chosen), "Drawing steps")
        self.shoot(film, out, material.facts.title, progress)

    @abstractmethod
    def shoot(self, film: Film, out: Path, title: str, progress: Progress) -> None: ...


class MovieExporter(FilmExporter):
    """A film for players of films. `step_bytes` is what a step takes, about."""

    icon: ClassVar[str] = "film"
    widest: ClassVar[int] = 1920
    most_steps: ClassVar[int | None] = 3000
    step_bytes: ClassVar[int]

    @classmethod
    def estimate(cls, size: Size) -> int:
        return 50_000 + cls.step_bytes * min(size.steps, cls.most_steps or size.steps)

    @classmethod
    @abstractmethod
    def coded(cls) -> tuple[str, ...]:
        """What ffmpeg is told about the file."""

    def shoot(self, film: Film, out: Path, title: str, progress: Progress) -> None:
        width, height = film.size
        given = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(RATE), "-i", "pipe:0")
        seconds, shown, step = 0.0, 0, -1
        with ffmpeg.fed((*given, *self.coded(), "-metadata", f"title={title}", str(out))) as pipe:
            for frame in film.frames():
                seconds += frame.seconds
                data = frame.picture.tobytes()
                for _ in range(round(seconds * RATE) - shown):
                    pipe.write(data)
                shown = round(seconds * RATE)
                if frame.step != step:
                    progress.advance()
                step = frame.step
        out.with_suffix(".vtt").write_text(web_vtt(film))


def web_vtt(film: Film) -> str:
    """Captions beside a film, for players that show them."""
    cues = (f"{_clock(start)} --> {_clock(end)}\n{escape(text, quote=False)}\n" for start, end, text in film.captions())
    return "\n".join(("WEBVTT\n", *cues))


def _clock(seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{int(minutes) // 60:02}:{int(minutes) % 60:02}:{rest:06.3f}"
