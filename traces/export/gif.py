"""A small film that plays anywhere a picture does."""

import tempfile
from pathlib import Path
from typing import ClassVar

from . import ffmpeg
from .base import Progress, Size
from .films import FilmExporter
from .frames import Film

STEP_BYTES = 20_000
COLOURS = "palettegen=max_colors=200:stats_mode=full"
DITHER = "paletteuse=dither=bayer:bayer_scale=4:diff_mode=rectangle"


class GifExporter(FilmExporter):
    label: ClassVar[str] = "GIF"
    about: ClassVar[str] = "The same film for a chat or a README: at most 60 steps, 960 pixels wide."
    icon: ClassVar[str] = "images"
    order: ClassVar[int] = 70
    suffix: ClassVar[str] = "gif"
    media_type: ClassVar[str] = "image/gif"
    widest: ClassVar[int] = 960
    most_steps: ClassVar[int | None] = 60

    @classmethod
    def estimate(cls, size: Size) -> int:
        return STEP_BYTES * min(size.steps, cls.most_steps or size.steps)

    def shoot(self, film: Film, out: Path, title: str, progress: Progress) -> None:
        with tempfile.TemporaryDirectory(prefix=".frames-", dir=out.parent) as place:
            listed = self._draw(film, Path(place), progress)
            palette = f"{place}/palette.png"
            given = ("-f", "concat", "-safe", "0", "-i", str(listed))
            ffmpeg.run((*given, "-vf", COLOURS, "-frames:v", "1", "-update", "1", palette))
            ffmpeg.run(
                (
                    *given,
                    "-i",
                    palette,
                    "-lavfi",
                    DITHER,
                    "-fps_mode",
                    "vfr",
                    "-final_delay",
                    "1",
                    "-f",
                    "gif",
                    str(out),
                )
            )

    def _draw(self, film: Film, place: Path, progress: Progress) -> Path:
        """A list of pictures with their times; the last stands twice, or its time would not count."""
        lines, step, name = ["ffconcat version 1.0"], -1, ""
        for number, frame in enumerate(film.frames()):
            name = f"{number:04}.png"
            frame.picture.save(place / name, compress_level=1)
            lines += [f"file {name}", f"duration {frame.seconds:.3f}"]
            if frame.step != step:
                progress.advance()
            step = frame.step
        listed = place / "frames.ffconcat"
        listed.write_text("\n".join([*lines, f"file {name}", ""]))
        return listed
