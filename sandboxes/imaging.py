"""Images at a person's request: what is built, by whom it is used, building it anew, deleting what nobody needs."""

import json
import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import cast

from django.conf import settings
from django.db.models import Count, QuerySet
from redis import Redis
from redis.exceptions import RedisError

from . import lifecycle, templates
from .errors import NotBuilt, Refused, SandboxError, Unavailable
from .host import here
from .images import builder, progress, recipe, store, workshop
from .models import ENDED, Machine, Snapshot
from .registry import kinds

log = logging.getLogger(__name__)

ASKED_SECONDS = 120
FAILED_SECONDS = 24 * 3600


@dataclass(frozen=True)
class Kept:
    """One build of an image on this host's disk."""

    image: store.Image
    current: bool
    machines: int
    snapshots: int

    @property
    def unused(self) -> bool:
        return not self.machines and not self.snapshots


@cache
def _redis() -> Redis:
    return Redis.from_url(settings.REDIS_URL, socket_timeout=2)


def place_of(name: str) -> Path:
    """Raises NotBuilt for what cannot be the name of an image."""
    if not name or "/" in name or name.startswith("."):
        raise NotBuilt(f"There is no image “{name}”.")
    return here().images / name


def kept(name: str) -> list[Kept]:
    """All builds of it, the current one first, then the newest."""
    current = (place_of(name) / store.CURRENT).resolve().name
    machines = _counts(Machine.objects.filter(image=name).exclude(state__in=ENDED))
    snapshots = _counts(Snapshot.objects.filter(image=name))
    found = []
    for manifest in place_of(name).glob(f"[!.]*/{store.MANIFEST}"):
        if manifest.parent.is_symlink():
            continue
        try:
            image = _image(name, manifest.parent)
        except (OSError, ValueError, KeyError):
            continue
        number = machines.get(image.digest, 0), snapshots.get(image.digest, 0)
        found.append(Kept(image, manifest.parent.name == current, *number))
    return sorted(found, key=lambda each: (each.current, str(each.image.manifest.get("built"))), reverse=True)


def _image(name: str, directory: Path) -> store.Image:
    manifest = json.loads((directory / store.MANIFEST).read_text())
    return store.Image(name, str(manifest["digest"]), directory / store.ROOTFS, manifest)


def _counts(rows: QuerySet[Machine] | QuerySet[Snapshot]) -> dict[str, int]:
    return dict(rows.order_by().values_list("image_digest").annotate(Count("pk")))


def waiting(name: str) -> bool:
    """Whether it was asked for and nobody has begun."""
    try:
        return bool(_redis().exists(_asked(name)))
    except RedisError:
        return False


def refusal(name: str) -> str:
    """Why the last request came to nothing before anything was built."""
    try:
        return cast(bytes, _redis().get(_failed(name)) or b"").decode()
    except RedisError:
        return ""


def request_build(name: str) -> None:
    """Build it anew on this host. Raises Refused while that is under way, Unavailable."""
    if name not in recipe.names():
        raise Unavailable(f"There is no recipe “{name}” any more.")
    under_way = progress.read(place_of(name))
    if under_way and under_way.state == "running":
        raise Refused(f"“{name}” is being built already.")
    try:
        if not _redis().set(_asked(name), 1, nx=True, ex=ASKED_SECONDS):
            raise Refused(f"“{name}” was asked for already, and waits for the machines' worker.")
        _redis().delete(_failed(name))
    except RedisError:
        raise Unavailable("Nothing can be asked of the machines' worker now; Redis does not answer.") from None
    if not lifecycle.send("build_image", settings.MACHINE_HOST, name):
        _redis().delete(_asked(name))
        raise Unavailable("Nothing can be asked of the machines' worker now; Redis does not answer.")


def build(name: str) -> None:
    """Runs on the images' host, as root. A person who asks wants it anew: packages have newer versions now."""
    _redis().delete(_asked(name))
    try:
        image = builder.build(name, lambda line: log.info("building %s: %s", name, line), force=True)
        if settings.WARM_TEMPLATES:
            for kind in kinds().values():
                if kind.unavailable_reason() is None:
                    templates.ensure(kind, image)
    except SandboxError as error:
        log.warning("building %s: %s", name, error)
        _redis().set(_failed(name), str(error), ex=FAILED_SECONDS)


def request_delete(name: str, digest: str) -> None:
    """Raises NotBuilt, Refused while somebody needs it."""
    build = _find(name, digest)
    _refuse_used(build)
    if not lifecycle.send("delete_build", settings.MACHINE_HOST, name, digest):
        raise Unavailable("Nothing can be asked of the machines' worker now; Redis does not answer.")


def delete(name: str, digest: str) -> None:
    """Runs on the images' host, as root. What has come into use since stays."""
    with workshop.locked(place_of(name), lambda: None):
        try:
            build = _find(name, digest)
            _refuse_used(build)
            templates.discard(name, digest)
            workshop.discard(build.image.root.parent)
        except SandboxError as error:
            log.warning("%s %s stays: %s", name, digest[:12], error)


def _find(name: str, digest: str) -> Kept:
    found = next((each for each in kept(name) if each.image.digest == digest), None)
    if found is None:
        raise NotBuilt(f"There is no such build of “{name}” on this host.")
    return found


def _refuse_used(build: Kept) -> None:
    if build.machines:
        raise Refused(f"{build.machines} machine(s) need this build of “{build.image.name}”: destroy them first.")
    if build.snapshots:
        raise Refused(f"{build.snapshots} snapshot(s) need this build of “{build.image.name}”: delete them first.")


def _asked(name: str) -> str:
    return f"image:asked:{name}"


def _failed(name: str) -> str:
    return f"image:failed:{name}"
