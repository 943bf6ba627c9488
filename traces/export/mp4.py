"""A film that every browser plays."""

from pathlib import Path
from typing import ClassVar

from . import ffmpeg
from .base import Progress, Size
from .films import FilmExporter, web_vtt
from .frames import Film

RATE = 5
STEP_BYTES = 14_000


class Mp4Exporter(FilmExporter):
    label: ClassVar[str] = "MP4"
    about: ClassVar[str] = "A film of one branch with captions, clicks, drags and typed text; idle time is cut."
    icon: ClassVar[str] = "film"
    order: ClassVar[int] = 60
    suffix: ClassVar[str] = "mp4"
    media_type: ClassVar[str] = "video/mp4"
    widest: ClassVar[int] = 1920
    most_steps: ClassVar[int | None] = 3000

    @classmethod
    def estimate(cls, size: Size) -> int:
        return 50_000 + STEP_BYTES * min(size.steps, cls.most_steps or size.steps)

    def shoot(self, film: Film, out: Path, title: str, progress: Progress) -> None:
        width, height = film.size
        given = ("-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{width}x{height}", "-r", str(RATE), "-i", "pipe:0")
        coded = ("-c:v", "libx264", "-preset", "veryfast", "-crf", "22", "-tune", "stillimage", "-pix_fmt", "yuv420p")
        named = ("-metadata", f"title={title}", "-movflags", "+faststart")
        seconds, shown, step = 0.0, 0, -1
        with ffmpeg.fed((*given, *coded, *named, "-f", "mp4", str(out))) as pipe:
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
