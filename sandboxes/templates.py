"""A template is a snapshot of a fresh, warmed machine, one per image and runtime: new machines are forks of it."""

import fcntl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TextIO

from .base import Capability, Sandbox
from .display.desktop import Desktop
from .errors import Gone, Refused, SandboxError
from .host import Host, here
from .ids import new_id
from .images.store import Image
from .locked import is_held
from .snapshots import SnapshotRef, Snapshots

WARM_UP = "/opt/godhand/warm"
WARM_UP_SECONDS = 90
STILLNESS = 0.6
PATIENCE = 20.0

State = Literal["none", "making", "ready", "old"]


def find(kind: type[Sandbox], image: Image) -> SnapshotRef | None:
    """None when there is none yet, or when it does not fit any more: damaged, or of another runtime.

    Raises Unavailable where there is no runtime.
    """
    try:
        ref = Snapshots(here()).find(_pointer(here(), kind, image).read_text())
    except (OSError, Gone, Refused):
        return None
    return ref if (ref.image_digest, ref.runtime) == (image.digest, kind.runtime()) else None


def ensure(kind: type[Sandbox], image: Image, progress: Callable[[str], None] = lambda _: None) -> SnapshotRef | None:
    """Made once; whoever comes second waits for it. None where the backend keeps no memory. Raises SandboxError."""
    if not {Capability.FORK, Capability.SNAPSHOT_MEMORY} <= kind.capabilities:
        return None
    pointer = _pointer(here(), kind, image)
    pointer.parent.mkdir(parents=True, exist_ok=True)
    with pointer.with_suffix(".lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        found = find(kind, image)
        if found is None:
            progress(f"warming up a template of “{image.name}”, once")
            found = _make(kind, image, claim=lock)
            _point(pointer, found)
        return found


def state(kind: type[Sandbox], image: Image) -> State:
    """For one who may only look: `old` is one of an earlier build. Whether it is whole is known when it is used."""
    pointer = _pointer(here(), kind, image)
    if pointer.exists():
        return "ready"
    if is_held(pointer.with_suffix(".lock")):
        return "making"
    return "old" if any(pointer.parent.glob(_pointer_name(kind, image.name, "?" * 16))) else "none"


def discard_old(current: list[tuple[type[Sandbox], Image]]) -> None:
    """Forget templates of images that are not the current ones any more."""
    wanted = {_pointer(here(), kind, image) for kind, image in current}
    for pointer in (here().home / "templates").glob("*.template"):
        if pointer not in wanted:
            _discard(pointer)


def discard(name: str, digest: str) -> None:
    """Forget the templates of one build, of whatever backend."""
    for pointer in (here().home / "templates").glob(f"*-{name}-{digest[:16]}.template"):
        _discard(pointer)


def _discard(pointer: Path) -> None:
    Snapshots(here()).delete(pointer.read_text())
    pointer.unlink(missing_ok=True)
    pointer.with_suffix(".lock").unlink(missing_ok=True)


def ids() -> set[str]:
    return {pointer.read_text() for pointer in (here().home / "templates").glob("*.template")}


def machines_in_use() -> set[str]:
    """That templates are being made in, by whatever process. They have no rows."""
    locks = (here().home / "templates").glob("*.lock")
    return {lock.read_text() for lock in locks if is_held(lock)}


def _make(kind: type[Sandbox], image: Image, claim: TextIO) -> SnapshotRef:
    machine_id = new_id()
    claim.truncate(0)
    claim.write(machine_id)
    claim.flush()
    sandbox = kind.create(machine_id, image, kind.Options(hostname=image.name))
    try:
        sandbox.start()
        _still(sandbox)
        result = sandbox.exec(["sh", "-c", f"[ ! -x {WARM_UP} ] || exec {WARM_UP}"], timeout=WARM_UP_SECONDS)
        if result.returncode:
            raise SandboxError(f"The image's {WARM_UP} failed: {result.stderr.decode(errors='replace')[-300:]}")
        _still(sandbox)
        return sandbox.snapshot(f"template of {image.name}")
    finally:
        sandbox.destroy()


def _still(sandbox: Sandbox) -> None:
    deadline = time.monotonic() + PATIENCE
    with sandbox.desktop() as desktop:
        while time.monotonic() < deadline and _changes(desktop):
            pass


def _changes(desktop: Desktop) -> bool:
    return desktop.wait_for_change(desktop.version, STILLNESS)


def _pointer(host: Host, kind: type[Sandbox], image: Image) -> Path:
    return host.home / "templates" / _pointer_name(kind, image.name, image.digest[:16])


def _pointer_name(kind: type[Sandbox], name: str, digest: str) -> str:
    return f"{kind.kind}-{name}-{digest}.template"


def _point(pointer: Path, ref: SnapshotRef) -> None:
    old = pointer.read_text() if pointer.exists() else None
    new = pointer.with_suffix(".new")
    new.write_text(ref.id)
    new.rename(pointer)
    if old:
        Snapshots(here()).delete(old)
