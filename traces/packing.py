"""Pictures in fewer bytes. A step has no time for that, so it is done when the trace is over."""

import io
import time
from dataclasses import dataclass
from datetime import timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone
from django.utils.module_loading import import_string
from PIL import Image

from .blobs import BlobStore
from .errors import Damaged
from .events import Kind
from .models import Blob, Event, Reference, Trace
from .pictures import FORMATS, WEBP
from .storage import default_store

METHOD, EFFORT = 5, 100
RECENT = 3.0


@dataclass(frozen=True)
class Packed:
    pictures: int = 0
    saved: int = 0


def pack(*, seconds: float, days: float = RECENT, store: BlobStore | None = None) -> Packed:
    """The pictures of traces that have ended, if they were given in the last days, for as long as there is time."""
    store, until = store or default_store(), time.monotonic() + seconds
    pictures = Blob.objects.filter(
        Exists(Reference.objects.filter(blob=OuterRef("pk"), trace__ended_at__isnull=False)),
        media_type=WEBP,
        width__isnull=False,
        used_at__gt=timezone.now() - timedelta(days=days),
    )
    left = [blob for blob in pictures.iterator(500) if not store.is_packed(blob.pk, blob.media_type)]
    exact = files() if left else set()
    count = saved = 0
    for blob in left:
        if time.monotonic() > until:
            break
        if blob.pk not in exact:
            count, saved = count + 1, saved + _pack(blob, store)
    return Packed(count, saved)


def files() -> set[str]:
    """What somebody gave or made as a file stays as it is, to the last byte."""
    found = Event.objects.filter(kind=Kind.FILE).values_list("data", flat=True).iterator(1000)
    return {data["sha256"] for data in found} | set(import_string(settings.BLOBS_HELD)())


def _pack(blob: Blob, store: BlobStore) -> int:
    """The bytes that are free now."""
    began = time.time()
    try:
        old = store.read(blob.pk, blob.media_type)
        size = store.pack(blob.pk, blob.media_type, smaller(old), began)
    except Damaged:
        return 0
    with transaction.atomic():
        Blob.objects.filter(pk=blob.pk).update(size=size)
        freed = blob.size - size
        Trace.objects.filter(references__blob=blob.pk, bytes__gte=freed).update(bytes=F("bytes") - freed)
    return freed


def smaller(data: bytes) -> bytes:
    """The same pixels in fewer bytes; as they are when there is nothing to gain. Raises Damaged."""
    try:
        with Image.open(io.BytesIO(data), formats=[FORMATS[WEBP]]) as picture:
            if getattr(picture, "n_frames", 1) > 1:
                return data
            whole = picture.convert("RGBA" if picture.has_transparency_data else "RGB")
    except (OSError, SyntaxError, ValueError) as error:
        raise Damaged(f"The picture cannot be read: {error}") from None
    out = io.BytesIO()
    whole.save(out, "webp", lossless=True, exact=True, method=METHOD, quality=EFFORT)
    packed = out.getvalue()
    with Image.open(io.BytesIO(packed), formats=[FORMATS[WEBP]]) as again:
        same = again.convert(whole.mode).tobytes() == whole.tobytes()
    return packed if same and len(packed) < len(data) else data
