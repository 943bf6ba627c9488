"""Files in and out of a task. Bytes of a machine are hostile: they are hashed and stored, never looked into."""

import mimetypes
import tempfile
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import BinaryIO

from sandboxes.base import Sandbox
from traces.drafts import plain
from traces.events import Actor, Recorder
from traces.payloads import Sha256
from traces.queries import stored

from .errors import BadCall, BadTask
from .models import Attachment, Branch, Document, Task

HOME = "/home/agent"
MOST_BYTES = 1 << 30
SPOOL = 16 << 20


def clean_name(name: str) -> str:
    """A name for a file, whatever it was called. Raises BadTask when nothing is left of it."""
    base = PurePosixPath(name.replace("\\", "/")).name
    clean = "".join(character for character in base if character.isprintable())[:200].strip()
    if not clean or clean in (".", ".."):
        raise BadTask(f"A file cannot be called {name[:50]!r}.")
    return clean


def media_type(name: str) -> str:
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


def put_in(task: Task, sandbox: Sandbox, recorder: Recorder) -> list[str]:
    """Every attachment into the home folder; their names."""
    names = []
    for attachment in Attachment.objects.filter(task=task):
        path, sha256 = f"{HOME}/{attachment.name}", Sha256(attachment.sha256)
        sandbox.write_file(path, stored(sha256).data)
        recorder.file(name=attachment.name, path=path, direction="in", sha256=sha256, actor=Actor.HUMAN)
        names.append(attachment.name)
    return names


def take_out(
    branch: Branch, sandbox: Sandbox, recorder: Recorder, path: str, title: str, clean: Callable[[str], str] = str
) -> str:
    """Raises FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError, BadCall, SandboxError."""
    try:
        name = clean_name(path)
    except BadTask as error:
        raise BadCall(f"path: {error} Name a file.") from None
    with sandbox.guest() as guest, tempfile.SpooledTemporaryFile(SPOOL) as spool:
        if guest.stat(path).size > MOST_BYTES:
            raise BadCall(f"{path}: is larger than {MOST_BYTES >> 20} MiB.")
        file: BinaryIO = spool  # type: ignore[assignment]
        size = guest.read_to(path, file)
        spool.seek(0)
        sha256 = recorder.blob(file, media_type(name))
    recorder.file(name=name, path=path, direction="out", sha256=sha256)
    Document.objects.create(
        branch=branch,
        name=clean(name)[:200],
        title=plain(clean(title), 200),
        path=clean(path).encode(errors="replace").decode(),
        sha256=sha256,
        media_type=media_type(name),
        size=size,
    )
    return f"Delivered {name}, {size} bytes."
