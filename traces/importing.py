"""Takes in a bundle: the same tree with a new id, for whoever gave it."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from . import replica
from .archives import Limits
from .blobs import BlobStore
from .bundle_reader import Bundle
from .bundled import blobs_of
from .cleaning import Cleaner
from .errors import BadBundle
from .events import Recorded
from .export.base import Facts, Held, Progress
from .lifecycle import Person
from .material import cleaner_for
from .models import Blob, Trace
from .payloads import Sha256
from .pictures import FORMATS
from .storage import default_store


def take_in(path: Path, owner: Person, progress: Progress, store: BlobStore | None = None) -> Trace:
    """Raises BadBundle, Unreadable and DiskFull; then there is no trace, and files that were stored are swept away."""
    unpacked = Limits(bytes=settings.IMPORT_MB << 21)
    with Bundle(path, unpacked) as bundle:
        named = _look_through(bundle, progress)
        blobs = list(_store(bundle, store or default_store(), progress))
        if missing := named - {Sha256(blob.pk) for blob in blobs}:
            raise BadBundle(f"An event names the picture or file {min(missing)}, which is not in the bundle.")
        progress.expect(0, "Writing the trace")
        cleaner = cleaner_for("")
        return replica.write(owner, _facts(bundle.facts, cleaner), _clean(bundle, cleaner), blobs)


def _look_through(bundle: Bundle, progress: Progress) -> set[Sha256]:
    """All events, before the first is written. The blobs that they name."""
    progress.expect(0, "Reading events")
    named: set[Sha256] = set()
    for event in bundle.events():
        named.update(blobs_of(event))
        progress.advance()
    return named


def _store(bundle: Bundle, store: BlobStore, progress: Progress) -> Iterator[Blob]:
    progress.expect(0, "Reading pictures and files")
    for held in bundle.blobs():
        known = Blob.objects.filter(pk=held.sha256).first()
        size = _keep(held, known.media_type if known else held.media_type, store)
        progress.advance()
        yield known or Blob(
            sha256=held.sha256, media_type=held.media_type, size=size, width=held.width, height=held.height
        )


def _keep(held: Held, media_type: str, store: BlobStore) -> int:
    """Raises BadBundle when its bytes are not what its name says, so nobody gets at a blob by knowing its hash."""
    if held.media_type in FORMATS:
        return store.add(held.read(), media_type)[1]
    with held.open() as file:
        return store.add(file, media_type)[1]


def _facts(facts: Facts, cleaner: Cleaner) -> Facts:
    """A run that was under way elsewhere goes on nowhere: what came of it is all there is."""
    title, meta = cleaner.json([facts.title, facts.meta])
    came = {"id": facts.id, "at": timezone.now().isoformat()}
    ended = facts.ended_at or timezone.now()
    state = facts.state if facts.ended_at else ""
    return replace(facts, title=title, meta={**meta, "imported": came}, ended_at=ended, state=state)


def _clean(bundle: Bundle, cleaner: Cleaner) -> Iterator[Recorded]:
    return (cleaner.clean(event) for event in bundle.events())
