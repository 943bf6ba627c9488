"""Where one image is built: one builder at a time, and whatever a killed builder left is swept away first."""

import fcntl
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import BuildFailed, Refused
from .store import CURRENT, HOLDS, MANIFEST, ROOTFS, Image

_UNFINISHED = (".building-", ".removing-")
LOCK = ".lock"


@contextmanager
def locked(place: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the place alone. `waiting` is called once when somebody else holds it now."""
    place.mkdir(parents=True, exist_ok=True)
    with (place / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def fresh_directory(place: Path) -> Iterator[Path]:
    """A directory to build in, removed unless it was renamed away by then."""
    directory = place / f"{_UNFINISHED[0]}{os.getpid()}"
    directory.mkdir(mode=0o755)
    try:
        yield directory
    finally:
        remove(directory)


def sweep(place: Path) -> None:
    """Remove what a killed builder left. Only for the one who holds the place."""
    for path in list(place.iterdir()):
        if path.name.startswith(_UNFINISHED):
            path.unlink() if path.is_symlink() else remove(path)


def remove(directory: Path) -> None:
    """Unmounts what is mounted inside first: a leftover bind mount must not be emptied with the rest."""
    if not directory.exists():
        return
    for mount in sorted(mounts_inside(directory), reverse=True):
        subprocess.run(["umount", "--lazy", mount], check=False, capture_output=True)
    still = mounts_inside(directory)
    if still:
        raise BuildFailed(f"{still[0]} is mounted and cannot be unmounted; unmount it and build again.")
    shutil.rmtree(directory)


def mounts_inside(directory: Path) -> list[str]:
    inside = f"{directory.resolve()}/"
    points = (line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines())
    return [point for point in map(_unescaped, points) if point.startswith(inside)]


def publish(place: Path, directory: Path, digest: str) -> Path:
    """Move a finished build to where it stays and make it the current one, in one step each."""
    final = place / digest[:16]
    if final.exists():
        (directory / MANIFEST).replace(final / MANIFEST)
    else:
        directory.rename(final)
    link = place / f"{_UNFINISHED[0]}link"
    link.unlink(missing_ok=True)
    link.symlink_to(final.name)
    link.replace(place / CURRENT)
    return final


def prune(place: Path, keep: list[Image]) -> None:
    """Remove all builds but those to `keep` and those whose root some running machine has mounted."""
    kept = {image.root.parent.name for image in keep}
    for old in place.iterdir():
        if old.is_dir() and not old.is_symlink() and old.name not in kept and not held(old) and not in_use(old):
            removing = place / f"{_UNFINISHED[1]}{old.name}"
            old.rename(removing)
            remove(removing)


def discard(build: Path) -> None:
    """Remove one build. Only for the one who holds the place. Raises Refused while a machine or a snapshot needs it."""
    if held(build):
        raise Refused(f"A snapshot needs {build}.")
    if in_use(build):
        raise Refused(f"A machine runs on {build}.")
    current = build.parent / CURRENT
    if current.resolve() == build:
        current.unlink()
    removing = build.parent / f"{_UNFINISHED[1]}{build.name}"
    build.rename(removing)
    remove(removing)


def held(directory: Path) -> bool:
    """Whether a snapshot that needs this root is still where its link says; whole homes are removed at times."""
    return any(hold.exists() for hold in (directory / HOLDS).glob("*"))


def in_use(directory: Path) -> bool:
    """Whether any process on the host, in whatever mount namespace, has the build mounted, also as an overlay."""
    root = re.escape(f"/{directory.parent.name}/{directory.name}/{ROOTFS}")
    mounted = re.compile(rf"{root}[ ,:]")
    for table in Path("/proc").glob("[0-9]*/mountinfo"):
        try:
            if mounted.search(table.read_text()):
                return True
        except OSError:
            continue
    return False


def _unescaped(point: str) -> str:
    return point.encode().decode("unicode_escape")
