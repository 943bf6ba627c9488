"""Snapshots of machines that have rows: taking, forking, going back, stopping and resuming, deleting."""

from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from . import lifecycle, slots, templates
from .errors import Refused, SandboxError
from .host import here
from .images import store
from .limits import Limits
from .models import ENDED, Event, Machine, Snapshot, State
from .network import Policy
from .registry import kinds
from .snapshots import SnapshotRef, Snapshots
from .turns import turn

UNCLAIMED_SECONDS = 600
WHEN_STOPPED = "when it was stopped"
RUNNING = (State.READY, State.STOPPING)

going_back: set[str] = set()
"""Machines that are not there for a moment, and not lost. One process does all that is done to a host's machines."""


def request_snapshot(machine: Machine, label: str) -> None:
    lifecycle.enqueue("snapshot", machine, label)


def request_fork(
    snapshot: Snapshot,
    owner: lifecycle.Person,
    *,
    name: str = "",
    network: Policy | None = None,
    limits: Limits | None = None,
) -> Machine:
    """A queued machine that begins where the snapshot was taken, with its network and limits unless named.

    Processes and disk are part of what was saved, so those stay. Raises SlotsUsed, and Refused when it was deleted.
    """
    try:
        return lifecycle.queue_machine(
            owner,
            image=snapshot.image,
            digest=snapshot.image_digest,
            name=name,
            kind=snapshot.backend,
            made_from=snapshot,
            network=network,
            limits=limits,
        )
    except IntegrityError:
        raise Refused(f"The snapshot “{snapshot.label}” was deleted just now.") from None


def request_stop(machine: Machine, by: str = "", why: str = "") -> bool:
    """Save it whole and take it off the host; False when it is not running."""
    saving = f"{why}: saving memory and disk" if why else "Saving memory and disk"
    moved = lifecycle.move(machine.pk, State.STOPPING, lifecycle.asked(saving, by))
    if moved:
        lifecycle.enqueue("stop", machine)
    return moved


def why_stopped(machine_id: str) -> str:
    """What was said when it was asked to; empty when it neither is stopped nor is being stopped."""
    if not Machine.objects.filter(pk=machine_id, state__in=(State.STOPPING, State.STOPPED)).exists():
        return ""
    story = Event.objects.filter(machine_id=machine_id).order_by("pk")
    ran = story.filter(state=State.READY).values_list("pk", flat=True).last() or 0
    return story.filter(pk__gt=ran, state=State.STOPPING).values_list("text", flat=True).first() or ""


def request_resume(machine: Machine, by: str = "") -> bool:
    """False when it is not stopped. Raises SlotsUsed."""
    with transaction.atomic():
        moved = lifecycle.move(machine.pk, State.QUEUED, lifecycle.asked(f"Queued on {machine.host}", by))
        if moved:
            slots.check(besides=machine.pk)
    if moved:
        lifecycle.enqueue("create", machine)
    return moved


def request_restore(machine: Machine, snapshot: Snapshot) -> None:
    lifecycle.enqueue("restore", machine, snapshot.pk)


def snapshot(machine_id: str, label: str) -> Snapshot | None:
    """Runs on the machine's host, as root. None when the machine is not running."""
    with turn(machine_id):
        machine = Machine.objects.filter(pk=machine_id, state__in=RUNNING).first()
        return _snapshot(machine, label) if machine else None


def _snapshot(machine: Machine, label: str) -> Snapshot:
    try:
        ref = lifecycle.attach(machine).snapshot(label)
    except SandboxError as error:
        lifecycle.note(machine, f"No snapshot was taken: {error}")
        raise
    row = _record(machine, ref)
    lifecycle.note(machine, f"Snapshot “{label}” taken: {ref.keeps}, {ref.size / 2**20:.0f} MiB")
    return row


def stop(machine_id: str) -> None:
    """Runs on the machine's host, as root."""
    with turn(machine_id):
        machine = Machine.objects.filter(pk=machine_id, state=State.STOPPING).first()
        if machine is not None:
            _stop(machine)


def _stop(machine: Machine) -> None:
    sandbox = lifecycle.attach(machine)
    if sandbox.alive() or not _is_saved(machine):
        try:
            saved = _snapshot(machine, WHEN_STOPPED)
        except SandboxError as error:
            # As if it had been used: one that cannot be saved now is not frozen again at every round.
            Machine.objects.filter(pk=machine.pk).update(last_used_at=timezone.now())
            lifecycle.move(machine.pk, State.READY, f"It goes on: {error}")
            return
        # Before its end: whoever takes over from a dead worker finds all that is needed.
        Machine.objects.filter(pk=machine.pk).update(made_from=saved)
    sandbox.destroy()
    lifecycle.move(machine.pk, State.STOPPED, "Saved whole; it can be resumed where it was")


def _is_saved(machine: Machine) -> bool:
    """By a worker that died before it could say so."""
    saved = machine.made_from
    if saved is None or (saved.machine_id, saved.label) != (machine.pk, WHEN_STOPPED):
        return False
    return saved.made_at >= machine.state_since


def restore(machine_id: str, snapshot_id: str) -> None:
    """Runs on the machine's host, as root. What cannot be woken is found out before the machine is touched."""
    with turn(machine_id):
        machine = Machine.objects.filter(pk=machine_id, state=State.READY).first()
        if machine is not None:
            _restore(machine, snapshot_id)


def _restore(machine: Machine, snapshot_id: str) -> None:
    sandbox = lifecycle.attach(machine)
    going_back.add(machine.pk)
    try:
        sandbox.restore(Snapshots(here()).find(snapshot_id))
        rows = Machine.objects.filter(pk=machine.pk, state__in=RUNNING)
        is_wanted = rows.update(handle=sandbox.handle, made_from=snapshot_id)
    except SandboxError as error:
        if sandbox.alive():
            lifecycle.note(machine, f"It could not go back to its snapshot, and is as it was: {error}")
        else:
            lifecycle.lose(machine.pk, f"It could not go back to its snapshot: {error}")
        return
    finally:
        going_back.discard(machine.pk)
    if is_wanted:
        lifecycle.note(machine, "Back at its snapshot")
    else:
        # Somebody asked for its destruction meanwhile.
        sandbox.destroy()


def request_delete(row: Snapshot) -> int:
    """The bytes that will be given back. Raises Refused while somebody needs it."""
    made = Machine.objects.filter(made_from=row)
    without = (*ENDED, State.READY, State.DESTROYING)
    needing = made.exclude(state__in=without).first()
    if needing is not None:
        raise Refused(f"“{needing.name}” needs the snapshot “{row.label}”: destroy or resume it first.")
    if row.pk in templates.ids():
        raise Refused(f"“{row.label}” is the template of new machines.")
    snapshot_id, size = row.pk, row.size
    try:
        with transaction.atomic():
            made.filter(state__in=without).update(made_from=None)
            row.delete()
    except (ProtectedError, IntegrityError):
        raise Refused(f"The snapshot “{row.label}” has come into use just now.") from None
    lifecycle.send("delete_snapshot", row.host, snapshot_id)
    return size


def delete_files(snapshot_id: str) -> None:
    """Runs on the snapshot's host, as root, after its row is gone."""
    if not Snapshot.objects.filter(pk=snapshot_id).exists():
        Snapshots(here()).delete(snapshot_id)


def _record(machine: Machine, ref: SnapshotRef) -> Snapshot:
    parent = Snapshot.objects.filter(pk=ref.parent).first() if ref.parent else None
    return Snapshot.objects.create(
        id=ref.id,
        owner_id=machine.owner_id,
        machine=machine,
        parent=parent,
        label=ref.label,
        backend=ref.kind,
        image=ref.image,
        image_digest=ref.image_digest,
        host=machine.host,
        keeps=ref.keeps,
        size=ref.size,
    )


def discard_unclaimed() -> None:
    """Files of snapshots whose rows are gone, templates of images that are not current, and half-made ones."""
    saved = Snapshots(here())
    saved.sweep()
    _discard_old_templates()
    claimed = set(Snapshot.objects.values_list("pk", flat=True)) | templates.ids()
    for snapshot_id in saved.ids(older_than=UNCLAIMED_SECONDS):
        if snapshot_id not in claimed:
            saved.delete(snapshot_id)


def _discard_old_templates() -> None:
    """Not right after a build: somebody may be forking the one before."""
    images = store.built()
    if images and all(image.current_for > UNCLAIMED_SECONDS for image in images):
        templates.discard_old([(kind, image) for kind in kinds().values() for image in images])
