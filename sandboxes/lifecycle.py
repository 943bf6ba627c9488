"""The only writer of a machine's state. A move is one conditional update; whoever changes the row has won."""

import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Protocol

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from . import ids, pool, publish, slots, templates
from .base import Sandbox
from .errors import SandboxError
from .host import here
from .images import store
from .limits import Limits
from .models import Event, Machine, Snapshot, State
from .network import Policy
from .registry import backend
from .snapshots import Snapshots

log = logging.getLogger(__name__)

MOVES: Mapping[State, tuple[State, ...]] = {
    State.QUEUED: (State.STOPPED,),
    State.PROVISIONING: (State.QUEUED,),
    State.BOOTING: (State.PROVISIONING,),
    State.READY: (State.BOOTING, State.STOPPING),
    State.FAILED: (State.QUEUED, State.PROVISIONING, State.BOOTING),
    State.LOST: (State.READY,),
    State.STOPPING: (State.READY,),
    State.STOPPED: (State.STOPPING, State.QUEUED, State.PROVISIONING, State.BOOTING),
    State.DESTROYING: (
        State.QUEUED,
        State.PROVISIONING,
        State.BOOTING,
        State.READY,
        State.STOPPING,
        State.STOPPED,
    ),
    State.DESTROYED: (State.DESTROYING,),
}


class Person(Protocol):
    pk: Any


def request_machine(
    owner: Person,
    *,
    image: str,
    name: str = "",
    kind: str = "gvisor",
    network: Policy | None = None,
    limits: Limits | None = None,
) -> Machine:
    """A queued row; its host's worker does the rest. Raises NotBuilt, Unavailable, SlotsUsed."""
    digest = store.find(image).digest
    return queue_machine(owner, image=image, digest=digest, name=name, kind=kind, network=network, limits=limits)


def queue_machine(
    owner: Person,
    *,
    image: str,
    digest: str,
    name: str,
    kind: str,
    made_from: Snapshot | None = None,
    network: Policy | None = None,
    limits: Limits | None = None,
) -> Machine:
    backend(kind)
    plain = made_from is None and limits is None and (network is None or network.mode == "off")
    with transaction.atomic():
        slots.check()
        spare = pool.take(kind, image, digest) if plain else None
        machine = Machine.objects.create(
            **({"id": spare.pk, "handle": spare.handle} if spare else {}),
            name=name or ids.new_name(),
            owner_id=owner.pk,
            backend=kind,
            image=image,
            image_digest=digest,
            host=settings.MACHINE_HOST,
            made_from=made_from,
            network=asdict(network) if network else {},
            limits=asdict(limits) if limits else {},
        )
        note(machine, f"Queued on {machine.host}")
        if spare:
            for state in (State.PROVISIONING, State.BOOTING, State.READY):
                move(machine.pk, state, "It was ready, and waited for somebody")
            machine.refresh_from_db()
    if not spare:
        enqueue("create", machine)
    return machine


def request_destroy(machine: Machine, by: str = "") -> bool:
    """False when it is being destroyed or has ended already."""
    moved = move(machine.pk, State.DESTROYING, asked("Destroying", by))
    if moved:
        enqueue("destroy", machine)
    return moved


def request_screenshot(machine: Machine, label: str) -> None:
    enqueue("screenshot", machine, label, queue="agents")


def create(machine_id: str) -> None:
    """Runs on the machine's host, as root."""
    if not move(machine_id, State.PROVISIONING, "Making network and disk"):
        return
    try:
        _bring_up(Machine.objects.get(pk=machine_id))
    except SandboxError as error:
        fail(machine_id, str(error))
    except Exception:
        fail(machine_id, "GodHand made a mistake while creating it; ./godhand logs machines has the details.")
        raise


def _bring_up(machine: Machine) -> None:
    sandbox = _made(machine)
    try:
        Machine.objects.filter(pk=machine.pk).update(
            handle=sandbox.handle, image_digest=sandbox.handle["image_digest"], last_used_at=timezone.now()
        )
        if move(machine.pk, State.BOOTING, "Starting the desktop"):
            if not sandbox.alive():
                sandbox.start()
                Machine.objects.filter(pk=machine.pk).update(handle=sandbox.handle)
            if move(machine.pk, State.READY, "Desktop is up"):
                return
    except BaseException:
        sandbox.destroy()
        raise
    # Somebody asked for its destruction while it was being made.
    sandbox.destroy()


def _made(machine: Machine) -> Sandbox:
    """From its snapshot, else from the image's template, else from the image; the first two are running already."""
    kind, chosen = backend(machine.backend), _chosen(machine)
    if machine.made_from_id:
        return kind.fork(Snapshots(here()).find(machine.made_from_id), machine.pk, **chosen)
    image = store.find(machine.image)
    template, limits = templates.find(kind, image), Limits(**machine.limits)
    if template is not None and limits == limits.of_fork(Limits()):
        return kind.fork(template, machine.pk, **chosen)
    if template is None and settings.WARM_TEMPLATES:
        enqueue("make_template", machine)
    return kind.create(machine.pk, image, kind.Options(hostname=machine.image, **chosen))


def _chosen(machine: Machine) -> dict[str, Any]:
    """Of a backend's options, those that its row names."""
    found: dict[str, Any] = {"policy": Policy(**machine.network)} if machine.network else {}
    return found | ({"limits": Limits(**machine.limits)} if machine.limits else {})


def make_template(machine_id: str) -> None:
    """Runs on the machine's host, as root, beside the first machine of an image."""
    machine = Machine.objects.get(pk=machine_id)
    templates.ensure(backend(machine.backend), store.find(machine.image))


def destroy(machine_id: str) -> None:
    """Runs on the machine's host, as root. Harmless when repeated."""
    machine = Machine.objects.filter(pk=machine_id, state=State.DESTROYING).first()
    if machine is not None:
        attach(machine).destroy()
        move(machine_id, State.DESTROYED, "Nothing of it is left on the host")


def fail(machine_id: str, sentence: str) -> None:
    """One that was being resumed is stopped as it was before, for nothing of it is lost."""
    machine = Machine.objects.select_related("made_from").get(pk=machine_id)
    if machine.made_from and machine.made_from.machine_id == machine_id:
        moved = move(machine_id, State.STOPPED, f"It could not be resumed, and is still saved. {sentence}")
    else:
        moved = move(machine_id, State.FAILED, sentence)
    if moved:
        attach(machine).destroy()


def lose(machine_id: str, sentence: str) -> None:
    machine = Machine.objects.get(pk=machine_id)
    if move(machine_id, State.LOST, sentence):
        attach(machine).destroy()


def attach(machine: Machine) -> Sandbox:
    return backend(machine.backend).attach(machine.handle or {"id": machine.pk})


def move(machine_id: str, to: State, detail: str) -> bool:
    with transaction.atomic():
        changed = Machine.objects.filter(pk=machine_id, state__in=MOVES[to]).update(
            state=to, state_since=timezone.now(), detail=detail[:400]
        )
        if changed:
            note(Machine.objects.get(pk=machine_id), detail)
    return bool(changed)


def note(machine: Machine, text: str) -> None:
    """One line in the machine's story, and a hint to whoever is looking."""
    Event.objects.create(machine=machine, state=machine.state, text=text[:400])
    publish.machine_changed(machine)


def asked(sentence: str, by: str) -> str:
    """For the machine's story: what happens, and who wanted it."""
    return f"{sentence}, as {by} asked" if by else sentence


def enqueue(task: str, machine: Machine, *arguments: str, queue: str = "") -> None:
    send(task, machine.host, machine.pk, *arguments, queue=queue)


def send(task: str, host: str, *arguments: str, queue: str = "") -> bool:
    """False when the broker is down: the reaper makes a machine's lost messages good, so that delays it at most."""
    from . import tasks

    try:
        getattr(tasks, task).s(*arguments).apply_async(queue=queue or f"machines.{host}", retry=False)
    except (OSError, tasks.BrokerDown) as error:
        log.warning("“%s” of %s waits for the reaper: %s", task, arguments[0], error)
        return False
    return True
