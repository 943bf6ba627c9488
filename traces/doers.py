"""What each kind of job does."""

from collections.abc import Mapping
from types import SimpleNamespace

from . import shares
from .blobs import room
from .export.base import Scope
from .export.naming import file_name
from .export.registry import exporter, kinds
from .importing import take_in
from .jobs import IMPORT, JobProgress, Work, draft, given
from .material import StoredMaterial
from .models import Job


def export(job: Job, progress: JobProgress) -> str:
    """Raises TraceError."""
    assert job.trace is not None
    chosen = exporter(job.kind)
    wanted = Scope(*(job.options.get(name, usual) for name, usual in (("branch", ""), ("first", 0), ("last", 0))))
    material = StoredMaterial(job.trace, wanted)
    name = file_name(material.facts.title, job.created_at, chosen.suffix)
    with room():
        chosen().write(material, draft(job) / name, progress)
    return name


def bring_in(job: Job, progress: JobProgress) -> str:
    """Raises TraceError."""
    with room():
        return take_in(given(job.pk), SimpleNamespace(pk=job.owner_id), progress).pk


WORK: Mapping[str, Work] = {**dict.fromkeys(kinds(), export), IMPORT: bring_in, shares.JOB: shares.work}
