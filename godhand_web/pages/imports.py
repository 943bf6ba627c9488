"""Traces on their way in: a file from another GodHand."""

from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from traces import jobs
from traces.errors import TraceError

from .. import quotas
from ..access import maker_or_403, visible_jobs, visible_traces
from ..models import User
from .exports import Shown

LISTED = 20
ZIP = b"PK\x03\x04"


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    person, problem = maker_or_403(request.user), ""
    if request.method == "POST":
        problem = take(person, request.FILES.get("bundle"))
        if not problem:
            return redirect("import_trace")
    mine = [Shown(job) for job in visible_jobs(person).filter(kind=jobs.IMPORT)[:LISTED]]
    made = visible_traces(person).in_bulk([each.job.result for each in mine if each.job.result])
    context = {
        "problem": problem,
        "jobs": [(each, made.get(each.job.result)) for each in mine],
        "most": settings.IMPORT_MB << 20,
    }
    return render(request, "traces/import.html", context, status=400 if problem else 200)


def take(person: User, file: Any) -> str:
    """What is wrong with it, as far as that can be said at once: a worker looks at the rest."""
    if not isinstance(file, UploadedFile):
        return "Choose a file."
    if (file.size or 0) > settings.IMPORT_MB << 20:
        return f"The file is larger than {settings.IMPORT_MB} MB, which is the most that is taken here."
    begins = file.read(len(ZIP))
    file.seek(0)
    if begins != ZIP:
        return "This is no zip file. Choose a bundle that was exported from a GodHand."
    if full := quotas.no_room_on_disk(person.pk):
        return full
    try:
        jobs.request_import(person, cast(BinaryIO, file), file.name or "")
    except TraceError as error:
        return str(error)
    return ""
