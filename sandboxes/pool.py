"""Machines that are ready before anybody asks: forks of the first image's template, with no owner yet.

Each has a row from before it is made until somebody takes it or it is given up, and whoever deletes the row has it.
They stand in slots that nobody uses: as those are needed, the pool gets smaller.
"""

import logging
from datetime import timedelta

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from . import templates
from .errors import NotBuilt, SandboxError, Unavailable
from .images import store
from .models import OFF_HOST, Machine, Spare
from .registry import backend

log = logging.getLogger(__name__)

IMAGE, KIND = "desktop", "gvisor"


def ids() -> set[str]:
    """Also of those that are being made."""
    return set(_mine().values_list("pk", flat=True))


def take(kind: str, image: str, digest: str) -> Spare | None:
    """A living one, for this caller alone. In the transaction that makes it somebody's."""
    for spare in _mine().filter(backend=kind, image=image, image_digest=digest).exclude(handle={}):
        if backend(kind).attach(spare.handle).alive() and _claim(spare):
            return spare
    return None


def refresh() -> None:
    """Runs on the host, as root: gives up what does not fit any more, and makes what is missing."""
    try:
        image = store.find(IMAGE)
    except NotBuilt:
        drain()
        return
    stuck = timezone.now() - timedelta(seconds=settings.STUCK_SECONDS)
    for spare in _mine():
        alive = bool(spare.handle) and backend(spare.backend).attach(spare.handle).alive()
        making = not spare.handle and spare.made_at > stuck
        if spare.image_digest != image.digest or not (alive or making):
            _give_up(spare)
    for spare in list(_mine()[_wanted() :]):
        _give_up(spare)
    while len(ids()) < _wanted() and _make(image):
        pass


def drain() -> None:
    for spare in _mine():
        _give_up(spare)


def _make(image: store.Image) -> bool:
    kind = backend(KIND)
    try:
        template = templates.find(kind, image)
    except Unavailable:
        template = None
    if template is None:
        return False
    spare = Spare.objects.create(backend=KIND, image=IMAGE, image_digest=image.digest, host=settings.MACHINE_HOST)
    try:
        sandbox = kind.fork(template, spare.pk)
    except SandboxError as error:
        log.warning("the pool stays smaller: %s", error)
        spare.delete()
        return False
    if not _mine().filter(pk=spare.pk).update(handle=sandbox.handle):
        sandbox.destroy()
    return True


def _give_up(spare: Spare) -> None:
    if _claim(spare):
        backend(spare.backend).attach(spare.handle or {"id": spare.pk}).destroy()


def _claim(spare: Spare) -> bool:
    return bool(_mine().filter(pk=spare.pk).delete()[0])


def _wanted() -> int:
    free = settings.MACHINE_SLOTS - Machine.objects.exclude(state__in=OFF_HOST).count()
    return max(0, min(settings.POOL, free))


def _mine() -> QuerySet[Spare]:
    return Spare.objects.filter(host=settings.MACHINE_HOST)
