"""Files that a task begins with, kept before there is a task: a form that has to be sent twice loses none."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.utils import timezone

from traces.models import Blob
from traces.storage import default_store

from .delivery import clean_name, media_type
from .errors import BadTask
from .models import Attachment

MOST = 100
MOST_BYTES = 256 << 20


@dataclass(frozen=True)
class Kept:
    """Bytes that are stored already; `traces.blobs.GRACE` is how long they wait for a task."""

    sha256: str
    size: int


Attachable = Path | bytes | BinaryIO | Kept


def keep(name: str, content: Attachable) -> Kept:
    """Raises BadTask for a name or a size that cannot be, and when what was kept is gone."""
    if isinstance(content, Path):
        with content.open("rb") as file:
            return keep(name, file)
    kind = media_type(clean_name(name))
    if isinstance(content, Kept):
        if not Blob.objects.filter(pk=content.sha256).update(used_at=timezone.now()):
            raise BadTask(f"attachments: “{clean_name(name)}” was not kept for so long; attach it again.")
        return content
    data = io.BytesIO(content) if isinstance(content, bytes) else content
    if _size(data) > MOST_BYTES:
        raise BadTask(f"attachments: “{clean_name(name)}” is larger than {MOST_BYTES >> 20} MiB.")
    sha256, size = default_store().add(data, kind)
    Blob.objects.update_or_create(
        pk=sha256, defaults={"used_at": timezone.now()}, create_defaults={"media_type": kind, "size": size}
    )
    return Kept(sha256, size)


def attachment(name: str, content: Attachable) -> Attachment:
    """Not saved yet: it lacks its task. Raises BadTask, as `keep` does."""
    kept, clean = keep(name, content), clean_name(name)
    return Attachment(name=clean, sha256=kept.sha256, media_type=media_type(clean), size=kept.size)


def held() -> set[str]:
    """Files of tasks that will run again, though no trace may name them just now."""
    return set(Attachment.objects.filter(task__schedule__isnull=False).values_list("sha256", flat=True))


def _size(data: BinaryIO) -> int:
    at = data.tell()
    end = data.seek(0, io.SEEK_END)
    data.seek(at)
    return end - at
