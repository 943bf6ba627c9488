"""Two branches on real machines: what differs in their home folders, and the room that the end of one gives back."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client

from agents import api
from agents.filesets import Home, between
from agents.models import Branch, Run, State
from godhand_web.models import User
from sandboxes import forking, lifecycle
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.host import here
from sandboxes.models import Machine, Snapshot
from sandboxes.models import State as MachineState
from sandboxes.snapshots import Snapshots
from traces.events import Actor
from traces.recorder import DatabaseRecorder

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]


def created(machine: Machine) -> Machine:
    lifecycle.create(machine.pk)
    machine.refresh_from_db()
    assert machine.state == MachineState.READY, machine.detail
    return machine


def do(machine: Machine, command: str) -> None:
    with lifecycle.attach(machine).guest() as guest:
        told = guest.bash(f"set -e; cd; {command}; set +e")
    assert told.exit_code == 0, told.output


@pytest.fixture
def run(owner: User) -> Iterator[Run]:
    """Two branches, each in a machine of its own, from one moment of main's."""
    run = api.submit(owner, "Write a report.", provider="scripted", options={"script": "chart"})
    main = run.branches.get()
    root = created(lifecycle.request_machine(owner, image="desktop"))
    do(root, "mkdir -p .cache; echo draft > report.txt; echo one > same.txt; echo old > old.txt")
    origin = forking.snapshot(root.pk, "the fork")
    assert origin
    story = DatabaseRecorder(run.trace, "main", lambda: None, None)
    fork = story.message(Actor.HUMAN, "Write a report.", turn=0, name="goal")
    Branch.objects.filter(pk=main.pk).update(machine=root, state=State.FAILED)
    for name in ("b1", "b2"):
        machine = created(forking.request_fork(origin, owner, name=name))
        Branch.objects.create(
            run=run, name=name, parent=main, forked_at=fork, snapshot=origin, machine=machine, state=State.FAILED
        )
        DatabaseRecorder(run.trace, name, lambda: None, fork).message(Actor.SYSTEM, name, turn=0, name="hint")
    yield run
    for machine in Machine.objects.all():
        lifecycle.request_destroy(machine)
        lifecycle.destroy(machine.pk)
    for snapshot_id in Snapshot.objects.values_list("pk", flat=True):
        Snapshots(here()).delete(snapshot_id)


def test_it_compares_home_folders_and_gives_the_room_back(run: Run, as_owner: Client) -> None:
    first, second = (Machine.objects.get(name=name) for name in ("b1", "b2"))
    do(first, "echo by hand > report.txt; rm old.txt; touch .cache/x")
    do(second, "echo by formula > report.txt; echo one > same.txt; printf x > $'two\\nlines'")
    found = between(Home(first), Home(second))
    shown = [(each.path, each.kind) for each in found if not each.hidden]
    assert shown == [("old.txt", "only b"), ("report.txt", "changed"), ("two\nlines", "only b")]
    assert (".cache/x", "only a") in [(each.path, each.kind) for each in found if each.hidden]
    page = as_owner.get(f"/traces/{run.trace_id}/merge/?a=b1&b=b2&in=home&file=report.txt").content.decode()
    assert '<span class="minus">- by hand' in page
    assert '<span class="plus">+ by formula' in page
    assert "two\ufffdlines" in page

    saved = forking.snapshot(first.pk, "its own")
    assert saved
    folder = Snapshots(here()).directory(saved.pk)
    space = api.delete_branch(run.branches.get(name="b1"))
    assert space.saved == saved.size <= on_disk(folder)
    # What the worker of the host does with the two messages that this has sent.
    lifecycle.destroy(first.pk)
    forking.delete_files(saved.pk)
    assert not folder.exists()
    assert first.pk not in {handle["id"] for handle in GvisorSandbox.owned()}


def on_disk(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
