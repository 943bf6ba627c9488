"""A film that every browser plays."""

from typing import ClassVar

from .films import MovieExporter


class Mp4Exporter(MovieExporter):
    label: ClassVar[str] = "MP4"
    about: ClassVar[str] = "A film of one branch with captions, clicks, drags and typed text; idle time is cut."
    order: ClassVar[int] = 60
    suffix: ClassVar[str] = "mp4"
    media_type: ClassVar[str] = "video/mp4"
    step_bytes: ClassVar[int] = 14_000

    @classmethod
    def coded(cls) -> tuple[str, ...]:
        return (
            *("-c:v", "libx264", "-preset", "veryfast", "-crf", "22", "-tune", "stillimage", "-pix_fmt", "yuv420p"),
            *("-movflags", "+faststart", "-f", "mp4"),
        )
