"""The bytes of a trace: pictures, small pictures, sheets of them, and files to take away."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.utils.http import content_disposition_header

from traces.errors import Damaged
from traces.events import Fate, Kind
from traces.models import Blob, Event, Reference, Trace
from traces.outline import steps_only, stretches
from traces.payloads import Sha256
from traces.queries import names, stored
from traces.storage import default_store
from traces.thumbs import SHEET, sheet, thumbnail

from .trace_details import PICTURES
from .trace_steps import screen_before

FOREVER = "private, max-age=31536000, immutable"
ALONE = "default-src 'none'; sandbox"
LARGEST = 32 << 20
CHUNK = 1 << 18


def answer(data: bytes, media_type: str, cache: str = FOREVER) -> HttpResponse:
    headers = {"Cache-Control": cache, "Content-Security-Policy": ALONE, "X-Content-Type-Options": "nosniff"}
    return HttpResponse(data, content_type=media_type, headers=headers)


def picture(request: HttpRequest, trace: Trace, sha256: str) -> HttpResponse:
    """Only what every browser takes for a picture and nothing else."""
    blob = Blob.objects.filter(pk=sha256, media_type__in=PICTURES, size__lte=LARGEST).first()
    if blob is None or not names(trace.pk, sha256):
        raise Http404
    try:
        return answer(stored(Sha256(sha256)).data, blob.media_type)
    except Damaged:
        raise Http404 from None


def thumb(request: HttpRequest, trace: Trace, sha256: str) -> HttpResponse:
    if not names(trace.pk, sha256):
        raise Http404
    try:
        return answer(thumbnail(sha256), "image/webp")
    except Damaged:
        raise Http404 from None


def strip(request: HttpRequest, trace: Trace, first: int, last: int) -> HttpResponse:
    """The small pictures of the steps between two seqs on the path of a branch, on one sheet."""
    shas, closed = tiles(trace.pk, request.GET.get("branch", ""), first, last)
    if not shas:
        raise Http404
    etag = f'"{hashlib.sha256(repr(shas).encode()).hexdigest()[:32]}"'
    if request.headers.get("If-None-Match") == etag:
        return HttpResponse(status=304, headers={"ETag": etag})
    whole = closed and len(shas) == SHEET
    response = answer(sheet(shas), "image/webp", FOREVER if whole else "private, no-cache")
    response.headers["ETag"] = etag
    return response


def tiles(trace_id: str, branch: str, first: int, last: int) -> tuple[list[Sha256 | None], bool]:
    """The pictures, and whether none of them can change any more. A step that saw nothing shows what was seen last."""
    seen: list[tuple[str, str]] = []
    for part, seq in stretches(trace_id, branch, last):
        events = Event.objects.filter(trace=trace_id, branch=part, seq__gte=first, seq__lte=seq)
        rows = steps_only(events).order_by("seq").values_list("after", "before", "fate")[:SHEET]
        seen[:0] = [(after or before, fate) for after, before, fate in rows]
    mine = Reference.objects.filter(trace=trace_id, blob__in={sha for sha, _ in seen}).values_list("blob_id", flat=True)
    known, shown = set(mine), screen_before(trace_id, branch, first)
    shas: list[Sha256 | None] = []
    for sha, _ in seen[:SHEET]:
        shown = Sha256(sha) if sha in known else shown
        shas.append(shown)
    return shas, all(fate not in (Fate.PLANNED, Fate.INTENT) for _, fate in seen)


def download(request: HttpRequest, trace: Trace, seq: int) -> HttpResponseBase:
    event = Event.objects.filter(trace=trace.pk, seq=seq, kind=Kind.FILE).first()
    blob = Blob.objects.filter(pk=event.data["sha256"]).first() if event else None
    if event is None or blob is None or not names(trace.pk, blob.pk):
        raise Http404
    path = default_store().path_of(blob.pk, blob.media_type)
    if not path.is_file():
        raise Http404
    chunks = read_async(path) if isinstance(request, ASGIRequest) else read(path)
    headers = {
        "Content-Length": str(path.stat().st_size),
        "Content-Disposition": content_disposition_header(True, event.data["name"]) or "attachment",
        "Content-Security-Policy": ALONE,
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "private, no-store",
    }
    return StreamingHttpResponse(chunks, content_type="application/octet-stream", headers=headers)


def read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK):
            yield chunk


async def read_async(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while chunk := await asyncio.to_thread(file.read, CHUNK):
            yield chunk
