"""Builds an image: recipe → root filesystem, manifest, digest; then switches `current` to it in one step."""

import errno
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from ..errors import BuildFailed, NotBuilt, Unavailable
from ..host import here
from . import progress as progress_file
from . import recipe as recipes_folder
from . import store, workshop
from .bootstrap import bootstrap, disk_ran_full
from .furnish import furnish, installed
from .recipe import GUEST, GUEST_FILES, RECIPES, Recipe
from .store import BUILD_LOG, MANIFEST, ROOTFS, Image
from .treedigest import measure

MANIFEST_VERSION = 1
NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
UNUSABLE = {errno.ENOTDIR, errno.EEXIST, errno.EACCES, errno.EROFS}


def build(name: str, progress: Callable[[str], None], force: bool = False, recipes: Path = RECIPES) -> Image:
    """Return at once when the recipe has not changed since the last build, unless `force`.

    `progress` gets one short line per phase. Raises Unavailable, BuildFailed, KeyboardInterrupt; in each case
    the image that was current stays so, and nothing unfinished is left.
    """
    recipe = recipes_folder.load(name, recipes)
    _require_guest()
    recipe_digest = recipe.digest
    image = _current(name, recipe_digest)
    if image and not force:
        return image
    require_tools()
    place = here().images / name
    say = _timed(progress)
    with (
        _disk_trouble_named(name),
        workshop.locked(place, lambda: say(f"another build of {name} is running; waiting for it")),
    ):
        image = _current(name, recipe_digest)
        if image and not force:
            return image
        workshop.sweep(place)
        progress(f"building the image “{name}”")
        with progress_file.recorded(place, say) as told, workshop.fresh_directory(place) as directory:
            _require_space(recipe, place)
            with _disk_trouble_named(name):
                digest = _assemble(recipe, recipe_digest, directory, place / BUILD_LOG, told)
            return _publish(name, place, directory, digest)


@contextmanager
def _disk_trouble_named(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in NO_ROOM:
            raise disk_ran_full(name) from None
        if error.errno not in UNUSABLE:
            raise
        raise BuildFailed(
            f"“{name}” cannot be built: {error.filename} cannot be used ({error.strerror}). Images are kept in "
            f"{here().images}; GODHAND_IMAGES chooses another directory."
        ) from None


def _assemble(recipe: Recipe, recipe_digest: str, directory: Path, log: Path, say: Callable[[str], None]) -> str:
    """Returns the digest of the tree."""
    root = directory / ROOTFS
    log.write_text("")
    bootstrap(recipe, root, log, say)
    say("adding files and setting up")
    furnish(recipe, root, log)
    say("computing the digest")
    tree = measure(root)
    manifest = {
        "version": MANIFEST_VERSION,
        "name": recipe.name,
        "title": recipe.title,
        "description": recipe.description,
        "digest": tree.digest,
        "recipe_digest": recipe_digest,
        "built": datetime.now(UTC).isoformat(timespec="seconds"),
        "size": tree.size,
        "suite": recipe.suite,
        "user": recipe.user.name,
        "env": dict(recipe.env),
        "packages": installed(root),
        "python": list(recipe.python),
    }
    (directory / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n")
    say("done")
    return tree.digest


def _publish(name: str, place: Path, directory: Path, digest: str) -> Image:
    try:
        previous = [store.find(name)]
    except NotBuilt:
        previous = []
    workshop.publish(place, directory, digest)
    image = store.find(name)
    workshop.prune(place, keep=[image, *previous])
    return image


def _current(name: str, recipe_digest: str) -> Image | None:
    try:
        image = store.find(name)
    except NotBuilt:
        return None
    return image if image.manifest.get("recipe_digest") == recipe_digest else None


def _require_guest() -> None:
    for name in GUEST_FILES:
        if not (GUEST / name).is_file():
            raise BuildFailed(f"{GUEST / name} is missing, and every image carries it; restore it from the repository.")


def require_tools() -> None:
    if os.geteuid() != 0:
        raise Unavailable("Images are built as root; run the same command with sudo.")
    if not shutil.which("mmdebstrap"):
        raise Unavailable("mmdebstrap is missing; install it with: apt-get install mmdebstrap")


def _require_space(recipe: Recipe, place: Path) -> None:
    free = shutil.disk_usage(place).free >> 20
    if free < recipe.space_mib:
        raise Unavailable(
            f"Building “{recipe.name}” needs {recipe.space_mib} MiB in {place}, and only {free} MiB are free."
        )


def _timed(progress: Callable[[str], None]) -> Callable[[str], None]:
    started = time.monotonic()
    return lambda phase: progress(f"{time.monotonic() - started:5.0f} s  {phase}")
