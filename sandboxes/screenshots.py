"""Pictures worth keeping: WebP files named by their hash, and a row each."""

import hashlib
import logging
import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from django.conf import settings

from . import lifecycle, publish
from .display.screen import Screen
from .errors import SandboxError
from .models import Machine, Screenshot, State

log = logging.getLogger(__name__)


def path_of(sha256: str) -> Path:
    return Path(settings.SCREENSHOTS) / sha256[:2] / f"{sha256}.webp"


def take(machine_id: str, label: str) -> Screenshot | None:
    """None when the machine is not there to be looked at."""
    machine = Machine.objects.filter(pk=machine_id, state=State.READY).first()
    if machine is None:
        return None
    try:
        with lifecycle.attach(machine).desktop() as desktop:
            return keep(machine, desktop.screenshot(), label)
    except SandboxError as error:
        log.warning("no screenshot of machine %s: %s", machine_id, error)
        return None


def keep(machine: Machine, screen: Screen, label: str, click: tuple[int, int] | None = None) -> Screenshot:
    sha256 = _store(screen.encode("webp"))
    click_x, click_y = click or (None, None)
    width, height = screen.size
    saved = Screenshot.objects.create(
        machine=machine,
        sha256=sha256,
        label=label,
        width=width,
        height=height,
        click_x=click_x,
        click_y=click_y,
    )
    publish.machine_changed(machine)
    return saved


def _store(picture: bytes) -> str:
    sha256 = hashlib.sha256(picture).hexdigest()
    target = path_of(sha256)
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=target.parent, delete=False) as file:
            file.write(picture)
            file.flush()
            os.fsync(file.fileno())
        Path(file.name).rename(target)
    return sha256
