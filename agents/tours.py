"""A tour of a machine that has a row: its pictures are kept, its end is told in the machine's story."""

from sandboxes import lifecycle, screenshots
from sandboxes.display.screen import Screen
from sandboxes.errors import SandboxError
from sandboxes.models import Machine, State

from . import tour

DONE = "The tour is over: the button was pressed"
FAILED = "The tour failed: "


def run(machine_id: str) -> None:
    machine = Machine.objects.filter(pk=machine_id, state=State.READY).first()
    if machine is None:
        return

    def save(screen: Screen, label: str, click: tuple[int, int] | None) -> None:
        screenshots.keep(machine, screen, label, click)
        lifecycle.note(machine, label)

    try:
        tour.run(lifecycle.attach(machine), save)
    except (SandboxError, TimeoutError) as error:
        lifecycle.note(machine, f"{FAILED}{error}")
    else:
        lifecycle.note(machine, DONE)
