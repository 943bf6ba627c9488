"""What must hold before services start. Each failure is one sentence with the fix; what can be mended is mended."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from sandboxes import env, templates
from sandboxes.errors import SandboxError
from sandboxes.host import here
from sandboxes.images import builder, store, workshop
from sandboxes.images.bootstrap import CONTAINED, FULL, NETWORK
from sandboxes.registry import backend
from sandboxes.runsc import Runsc, binary

from .ahead import DEFAULT_IMAGE
from .place import is_root
from .system import LEAST_FREE, port_trouble, say

SUITE = "trixie"
LONGEST_SOCKET = 107

Progress = Callable[[str], None]


def refuse() -> None:
    refuse_long_home()
    refuse_taken_ports()
    refuse_full_disk()


def mend(progress: Progress) -> None:
    if is_root():
        ensure_runsc(progress)
        ensure_image(DEFAULT_IMAGE, progress)
        ensure_template(DEFAULT_IMAGE, progress)
    reason = backend("gvisor").unavailable_reason()
    if reason:
        progress(f"machines cannot be made: {reason}")


def refuse_long_home() -> None:
    """The kernel takes no longer path for a socket."""
    excess = len(bytes(settings.REDIS_SOCKET)) - LONGEST_SOCKET
    if settings.REDIS_IS_OURS and excess > 0:
        sys.exit(
            f"GODHAND_HOME is {here().home}, whose path is {excess} bytes too long for the socket of Redis: "
            "set it to a shorter one."
        )


def refuse_taken_ports() -> None:
    if settings.PORT == settings.GATE_PORT:
        sys.exit(f"GODHAND_PORT and GODHAND_GATE_PORT are both {settings.PORT}: set one of them to another.")
    for name, port in (("GODHAND_PORT", settings.PORT), ("GODHAND_GATE_PORT", settings.GATE_PORT)):
        if trouble := port_trouble(settings.BIND, port, name):
            sys.exit(f"{trouble}.")


def refuse_full_disk() -> None:
    free = shutil.disk_usage(here().home).free
    if free < LEAST_FREE:
        sys.exit(
            f"Only {free / 2**30:.1f} GiB are free at {here().home}; GodHand needs {LEAST_FREE / 2**30:.0f} GiB: "
            "free some space, or set GODHAND_HOME to a roomier disk."
        )


def ensure_runsc(progress: Progress = say) -> None:
    """Debian's own build, unpacked beside our data: no package source of the system is touched."""
    if _has_runsc():
        return
    if given := env.text("GODHAND_RUNSC"):
        sys.exit(f"There is no program at GODHAND_RUNSC={given}: correct it, or unset it to have runsc fetched.")
    with workshop.locked(here().tools, lambda: progress("another command is fetching runsc; waiting for it")):
        if not _has_runsc():
            progress("fetching runsc (gVisor), which isolates the machines")
            _fetch_runsc(here().tools / "runsc.new")


def _has_runsc() -> bool:
    """One that we have fetched and that is damaged is none; whoever brought another has to mend it."""
    try:
        program = Path(binary(here()))
    except SandboxError:
        return False
    try:
        Runsc(here()).version()
    except SandboxError as error:
        if program.is_relative_to(here().tools):
            return False
        sys.exit(str(error))
    return True


def _fetch_runsc(workplace: Path) -> None:
    shutil.rmtree(workplace, ignore_errors=True)
    scratch, unpacked = workplace / "tmp", workplace / "root"
    scratch.mkdir(parents=True)
    result = subprocess.run(
        [*CONTAINED, "mmdebstrap", "--variant=extract", "--include=runsc", SUITE, str(unpacked)],
        env={**os.environ, "TMPDIR": str(scratch)},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if result.returncode:
        sys.exit(f"runsc could not be fetched: {_why(result.stderr)}, then run this again.")
    shutil.rmtree(here().tools / "runsc", ignore_errors=True)
    unpacked.rename(here().tools / "runsc")
    shutil.rmtree(workplace)


def _why(told: str) -> str:
    if FULL.search(told):
        return f"the disk of {here().tools} is full. Free some space"
    if network := NETWORK.search(told):
        return f"{network[0].strip()}. Check the network"
    return f"{(told.strip().splitlines() or ['mmdebstrap said nothing'])[-1]}. Mend that"


def ensure_template(name: str, progress: Progress) -> None:
    """Without one machines start from the image, which is slower and works too."""
    if settings.WARM_TEMPLATES:
        try:
            templates.ensure(backend("gvisor"), store.find(name), progress)
        except SandboxError as error:
            progress(f"no template: {error}")


def ensure_image(name: str, progress: Progress = say) -> None:
    """Builds when there is none yet, or when its recipe has changed since; else returns at once."""
    try:
        builder.build(name, progress)
    except SandboxError as error:
        sys.exit(str(error))
