"""Files that a task was given and files that it made: to look at, and to take away. Their bytes are hostile."""

import csv
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from agents.models import Attachment, Branch, Document, Task
from traces.models import Blob
from traces.storage import default_store

from ..access import task_or_404
from .trace_details import PICTURES, TEXTS
from .trace_files import ALONE, LARGEST, answer, read, read_async

PREVIEW = 16 << 10
ROWS, COLUMNS, CELL = 40, 16, 80
TABLES = {"text/csv": ",", "text/tab-separated-values": "\t"}


@dataclass(frozen=True)
class File:
    """`out` came out of the machine. The newest of a name counts."""

    name: str
    title: str
    sha256: str
    media_type: str
    size: int
    out: bool

    @property
    def is_picture(self) -> bool:
        return self.media_type in PICTURES and self.size <= LARGEST

    @property
    def icon(self) -> str:
        if self.is_picture:
            return "image"
        if self.media_type in TABLES or "sheet" in self.media_type:
            return "file-spreadsheet"
        return "file-text" if self.media_type.startswith("text/") else "file"

    @cached_property
    def text(self) -> str:
        """The beginning, when it is text."""
        if not self.media_type.startswith("text/") and self.media_type not in TEXTS:
            return ""
        path = stored_at(self.sha256)
        if path is None:
            return ""
        with path.open("rb") as file:
            return file.read(PREVIEW).decode("utf-8", "replace")

    @property
    def is_cut(self) -> bool:
        return self.size > PREVIEW

    @cached_property
    def table(self) -> list[list[str]]:
        """The first rows, when it is a table; the first of them are headers."""
        delimiter = TABLES.get(self.media_type)
        if not delimiter or not self.text:
            return []
        whole = self.text.rpartition("\n")[0] if self.is_cut else self.text
        try:
            rows = csv.reader(io.StringIO(whole.replace("\0", "")), delimiter=delimiter)
            return [[cell[:CELL] for cell in row[:COLUMNS]] for _, row in zip(range(ROWS), rows, strict=False)]
        except csv.Error:
            return []


def stored_at(sha256: str) -> Path | None:
    blob = Blob.objects.filter(pk=sha256).first()
    path = default_store().path_of(blob.pk, blob.media_type) if blob else None
    return path if path and path.is_file() else None


def given(task: Task) -> list[File]:
    return [_file(each, out=False) for each in task.attachments.all()]


def delivered(branch: Branch) -> list[File]:
    newest = {document.path: document for document in branch.documents.all()}
    return [_file(document, out=True) for document in newest.values()]


def _file(row: Attachment | Document, *, out: bool) -> File:
    title = row.title if isinstance(row, Document) else ""
    return File(row.name, title, row.sha256, row.media_type, row.size, out)


def _named(request: HttpRequest, task_id: str, sha256: str) -> tuple[str, Path]:
    """Its name and its bytes, when it is a file of the task. Raises Http404."""
    task = task_or_404(request.user, task_id)
    rows = (
        Attachment.objects.filter(task=task, sha256=sha256),
        Document.objects.filter(branch__run__task=task, sha256=sha256),
    )
    name = next((row.name for found in rows for row in found.order_by("-pk")[:1]), None)
    path = stored_at(sha256)
    if name is None or path is None:
        raise Http404
    return name, path


@require_safe
def download(request: HttpRequest, task_id: str, sha256: str) -> HttpResponseBase:
    name, path = _named(request, task_id, sha256)
    headers = {
        "Content-Length": str(path.stat().st_size),
        "Content-Disposition": content_disposition_header(True, name) or "attachment",
        "Content-Security-Policy": ALONE,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-store",
    }
    chunks = read_async(path) if isinstance(request, ASGIRequest) else read(path)
    return StreamingHttpResponse(chunks, content_type="application/octet-stream", headers=headers)


@require_safe
def picture(request: HttpRequest, task_id: str, sha256: str) -> HttpResponse:
    """Only what every browser takes for a picture and nothing else."""
    _, path = _named(request, task_id, sha256)
    blob = Blob.objects.get(pk=sha256)
    if blob.media_type not in PICTURES or blob.size > LARGEST:
        raise Http404
    return answer(path.read_bytes(), blob.media_type)
