"""The same film without patents."""

from typing import ClassVar

from .films import MovieExporter


class WebmExporter(MovieExporter):
    label: ClassVar[str] = "WebM"
    about: ClassVar[str] = "The same film in VP9, which is free of patents; takes longer to make."
    order: ClassVar[int] = 65
    suffix: ClassVar[str] = "webm"
    media_type: ClassVar[str] = "video/webm"
    step_bytes: ClassVar[int] = 12_000

    @classmethod
    def coded(cls) -> tuple[str, ...]:
        return (
            *("-c:v", "libvpx-vp9", "-deadline", "realtime", "-cpu-used", "7", "-row-mt", "1"),
            *("-crf", "30", "-b:v", "0", "-pix_fmt", "yuv420p", "-f", "webm"),
        )
