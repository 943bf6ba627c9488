"""What must hold before services start. Each failure is one sentence with the fix; what can be mended is mended."""

import shutil
import socket
import subprocess
import sys
from collections.abc import Callable

from django.conf import settings

from sandboxes import env, templates
from sandboxes.errors import SandboxError
from sandboxes.host import here
from sandboxes.images import builder, store
from sandboxes.registry import backend
from sandboxes.runsc import binary

from .place import is_root
from .system import say

LEAST_FREE = 3 * 2**30
DEFAULT_IMAGE = "desktop"
SUITE = "trixie"

Progress = Callable[[str], None]


def refuse() -> None:
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


def refuse_taken_ports() -> None:
    for name, port in (("GODHAND_PORT", settings.PORT), ("GODHAND_GATE_PORT", settings.GATE_PORT)):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((settings.BIND, port))
            except OSError as error:
                sys.exit(f"Port {port} on {settings.BIND} cannot be used ({error.strerror}): set {name} to a free one.")


def refuse_full_disk() -> None:
    free = shutil.disk_usage(here().home).free
    if free < LEAST_FREE:
        sys.exit(
            f"Only {free / 2**30:.1f} GiB are free at {here().home}; GodHand needs {LEAST_FREE / 2**30:.0f} GiB: "
            "free some space, or set GODHAND_HOME to a roomier disk."
        )


def ensure_runsc(progress: Progress = say) -> None:
    """Debian's own build, unpacked beside our data: no package source of the system is touched."""
    try:
        binary(here())
        return
    except SandboxError:
        if given := env.text("GODHAND_RUNSC"):
            sys.exit(f"There is no program at GODHAND_RUNSC={given}: correct it, or unset it to have runsc fetched.")
        progress("fetching runsc (gVisor), which isolates the machines")
    unpacking = here().tools / "runsc.new"
    shutil.rmtree(unpacking, ignore_errors=True)
    unpacking.parent.mkdir(parents=True, exist_ok=True)
    result = subprocess.run(
        ["mmdebstrap", "--variant=extract", "--include=runsc", SUITE, str(unpacking)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if result.returncode:
        reason = (result.stderr.strip().splitlines() or ["mmdebstrap said nothing"])[-1]
        sys.exit(f"runsc could not be fetched: {reason}. Check the network, then run this again.")
    shutil.rmtree(here().tools / "runsc", ignore_errors=True)
    unpacking.rename(here().tools / "runsc")


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
