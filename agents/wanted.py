"""A snapshot that is wanted of a branch's machine: a line in its story, until another says what came of it."""

from django.db.models import Q

from sandboxes import lifecycle as machines
from sandboxes.models import Event, Machine

from . import hints, vault
from .models import DRIVEN, Branch

WANTED = "A snapshot is wanted: "
TAKEN = "Snapshot “{}” taken"
REFUSED = "No snapshot was taken"


def want_snapshot(branch: Branch, label: str) -> bool:
    """Where nobody drives the branch it is taken now, and this is True.

    Whoever drives it takes it beside the next request to the model, so that machine and conversation are of one moment.
    """
    assert branch.machine
    clean = vault.cleaner_of(branch.run.task).text(label)[:100]
    machines.note(branch.machine, f"{WANTED}{clean}")
    hints.send("save", branch.pk)
    return branch.state not in DRIVEN


def wanted(machine: Machine) -> str:
    """The label of the first that was neither taken nor refused; empty when there is none."""
    told = Q(text__startswith=WANTED) | Q(text__startswith=TAKEN.partition("{")[0]) | Q(text__startswith=REFUSED)
    open_labels: list[str] = []
    for text in Event.objects.filter(told, machine=machine).values_list("text", flat=True):
        if text.startswith(WANTED):
            open_labels.append(text.removeprefix(WANTED))
        elif text.startswith(REFUSED):
            open_labels.clear()
        else:
            open_labels = [label for label in open_labels if not text.startswith(TAKEN.format(label))]
    return open_labels[0] if open_labels else ""
