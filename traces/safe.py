"""Blobs that may leave: pictures without secrets in their pixels, files without words that must not be read."""

import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from PIL import Image

from .blobs import BlobStore
from .errors import Damaged
from .events import Kind
from .hiding import Hider
from .models import Blob, Event, Trace
from .payloads import Json
from .pictures import FORMATS, Corners, Mask, Masked, burn, measure

LARGEST_FILE = 64 << 20

Part = tuple[float, float, float, float]
"""Of a picture: x, y, width and height, each from 0 to 1."""

WHOLE: Part = (0.0, 0.0, 1.0, 1.0)


@dataclass(frozen=True)
class Redaction:
    """`parts` are hidden in every picture. Files go along only when `files` says so."""

    hider: Hider
    mask: Mask
    parts: Sequence[Part] = ()
    files: bool = False


@dataclass
class Report:
    """What was hidden, and what was left out. `text` counts the finds of the hider."""

    pictures: int = 0
    files: int = 0
    text: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> Json:
        counts = {"pictures": self.pictures, "files": self.files, **self.text}
        return {name: count for name, count in counts.items() if count}


class SafeBlobs:
    """Those of one trace. Each is looked at once, in the order in which events name them."""

    def __init__(self, source: Trace, redaction: Redaction, store: BlobStore) -> None:
        self.redaction, self.store, self.report = redaction, store, Report()
        self._known = {blob.pk: blob for blob in Blob.objects.filter(references__trace=source)}
        self._safe: dict[str, Blob | None] = {}

    def take(self, event: Event) -> None:
        """Raises DiskFull, and what the mask raises."""
        for sha256 in named(event):
            if sha256 in self._known and sha256 not in self._safe:
                self._safe[sha256] = self._look(event, self._known[sha256])

    def instead(self, text: str) -> str | None:
        """For the name of a blob that of its safe one, empty when there is none; None for any other text."""
        if text not in self._safe:
            return None
        blob = self._safe[text]
        return blob.pk if blob else ""

    def of(self, event: Event) -> set[str]:
        """The safe blobs of an event that was taken."""
        return {blob.pk for sha256 in named(event) if (blob := self._safe.get(sha256))}

    def _look(self, event: Event, blob: Blob) -> Blob | None:
        """Itself, a clean one, or nothing."""
        try:
            if event.kind != Kind.FILE:
                return self._picture(blob, whole=event.name == "zoom")
            safe = self._file(blob) if self.redaction.files and blob.size <= LARGEST_FILE else None
        except Damaged:
            return None
        self.report.files += safe is None
        return safe

    def _picture(self, blob: Blob, *, whole: bool) -> Blob:
        masked = self.redaction.mask(self.store.read(blob.pk, blob.media_type), blob.media_type)
        if self.redaction.parts:
            masked = _without(masked, [WHOLE] if whole else self.redaction.parts)
        self.report.pictures += bool(masked.hidden)
        return self._kept(masked.data, masked.media_type, blob) if masked.hidden else blob

    def _file(self, blob: Blob) -> Blob | None:
        data = self.store.read(blob.pk, blob.media_type)
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return None if self._shows(data, blob.media_type) else blob
        clean = self.redaction.hider.text(text)
        return blob if clean == text else self._kept(clean.encode(), blob.media_type, blob)

    def _shows(self, data: bytes, media_type: str) -> bool:
        """Also what calls itself a picture, and is none that can be looked at."""
        if media_type in FORMATS:
            try:
                measure(data, media_type)
            except ValueError:
                return True
            return bool(self.redaction.mask(data, media_type).hidden)
        return any(self.redaction.hider.knows(data.decode(code, "replace")) for code in ("utf-8", "utf-16-le"))

    def _kept(self, data: bytes, media_type: str, like: Blob) -> Blob:
        sha256, size = self.store.add(data, media_type)
        fresh = Blob(sha256=sha256, media_type=media_type, size=size, width=like.width, height=like.height)
        Blob.objects.bulk_create([fresh], update_conflicts=True, update_fields=["used_at"], unique_fields=["sha256"])
        return fresh


def named(event: Event) -> list[str]:
    """All texts of an event that may be names of blobs, the screen before and after it first."""
    return list(dict.fromkeys((event.before, event.after, *_texts([event.data, event.act, event.result]))))


def _texts(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _without(masked: Masked, parts: Sequence[Part]) -> Masked:
    """What was zoomed in on has lost its place on the screen: callers hide it whole."""
    with Image.open(io.BytesIO(masked.data)) as picture:
        boxes = [_box(part, *picture.size) for part in parts]
        return Masked(*burn(picture, boxes, masked.media_type), masked.hidden + len(boxes))


def _box(part: Part, width: int, height: int) -> Corners:
    """All pixels that it touches."""
    left, top = math.floor(part[0] * width), math.floor(part[1] * height)
    right, bottom = math.ceil((part[0] + part[2]) * width), math.ceil((part[1] + part[3]) * height)
    return left, top, min(right, width) - left, min(bottom, height) - top
