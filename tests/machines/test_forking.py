import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from godhand_web.models import User
from sandboxes import forking, lifecycle, reaper, runsc, templates
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.errors import Refused
from sandboxes.host import here
from sandboxes.images import store
from sandboxes.limits import Limits
from sandboxes.models import Machine, Snapshot, Spare, State
from sandboxes.network import Policy
from sandboxes.snapshots import SnapshotRef, Snapshots

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]


@pytest.fixture
def ready(owner: User) -> Machine:
    machine = lifecycle.request_machine(owner, image="desktop")
    lifecycle.create(machine.pk)
    machine.refresh_from_db()
    assert machine.state == State.READY, machine.detail
    return machine


def created(machine: Machine) -> Machine:
    lifecycle.create(machine.pk)
    machine.refresh_from_db()
    assert machine.state == State.READY, machine.detail
    return machine


def said(machine: Machine, command: str) -> str:
    with lifecycle.attach(machine).guest() as guest:
        return guest.bash(command).output.decode().strip()


def test_it_forks_a_running_machine_into_two_that_diverge(ready: Machine) -> None:
    said(ready, "cd /tmp; kept=yes; echo before > story")
    snapshot = forking.snapshot(ready.pk, "a fork")
    assert snapshot is not None
    first, second = (created(forking.request_fork(snapshot, ready.owner)) for _ in range(2))
    assert said(first, "echo first >> story; echo $kept; cat story") == "yes\nbefore\nfirst"
    assert said(second, "cat story") == "before"
    assert said(ready, "echo $kept; cat story") == "yes\nbefore"
    assert len({machine.handle["token"] for machine in (ready, first, second)}) == 3


def test_it_stops_a_machine_and_resumes_it_where_it_was(ready: Machine) -> None:
    said(ready, "kept=yes")
    assert forking.request_stop(ready)
    forking.stop(ready.pk)
    ready.refresh_from_db()
    assert ready.state == State.STOPPED
    assert ready.pk not in {handle["id"] for handle in GvisorSandbox.owned()}
    assert forking.request_resume(ready)
    assert said(created(ready), "echo $kept") == "yes"


def test_it_stops_a_machine_though_the_worker_dies_when_it_is_half_gone(
    ready: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(sandbox: GvisorSandbox) -> None:
        sandbox.stop()
        raise KeyboardInterrupt

    said(ready, "kept=yes")
    forking.request_stop(ready)
    with monkeypatch.context() as dying:
        dying.setattr(GvisorSandbox, "destroy", die)
        with pytest.raises(KeyboardInterrupt):
            forking.stop(ready.pk)
    reaper.sweep()
    ready.refresh_from_db()
    assert ready.state == State.STOPPED
    assert Snapshot.objects.get().machine == ready
    assert forking.request_resume(ready)
    assert said(created(ready), "echo $kept") == "yes"


def test_it_says_why_a_machine_could_not_be_stopped_and_lets_it_go_on(
    ready: Machine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    slow = tmp_path / "runsc"
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    (snapshots := here().home / "snapshots").mkdir(exist_ok=True)
    forking.request_stop(ready)
    with monkeypatch.context() as busy:
        busy.setattr(runsc, "ASK_TIMEOUT", 0.2)
        busy.setenv("GODHAND_RUNSC", str(slow))
        forking.stop(ready.pk)
    assert ready.events.filter(state=State.READY, text__contains="the host is too busy").exists()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "none", str(snapshots)], check=True)
    try:
        forking.request_stop(ready)
        forking.stop(ready.pk)
    finally:
        subprocess.run(["umount", str(snapshots)], check=True)
    told = ready.events.filter(text__contains="disk is full: delete some")
    assert list(told.values_list("state", flat=True)) == [State.STOPPING, State.READY]
    ready.refresh_from_db()
    assert ready.last_used_at >= told[0].at, "the next round would try again"
    assert said(ready, "echo it goes on") == "it goes on"


def test_it_goes_back_to_a_snapshot_in_place(ready: Machine) -> None:
    snapshot = forking.snapshot(ready.pk, "before the mistake")
    assert snapshot is not None
    said(ready, "touch /tmp/mistake")
    forking.restore(ready.pk, snapshot.pk)
    ready.refresh_from_db()
    assert ready.state == State.READY
    assert said(ready, "ls /tmp/mistake 2>&1 | grep -c 'No such'") == "1"


def spoil(snapshot: Snapshot) -> None:
    saved = max(
        (Snapshots(here()).directory(snapshot.pk) / "checkpoint").iterdir(), key=lambda file: file.stat().st_size
    )
    with saved.open("r+b") as file:
        first = file.read(1)
        file.seek(0)
        file.write(bytes([first[0] ^ 1]))


def test_it_runs_on_when_its_snapshot_cannot_be_woken(ready: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = forking.snapshot(ready.pk, "before")
    assert snapshot is not None
    said(ready, "kept=yes")
    with monkeypatch.context() as upgraded:
        upgraded.setattr(GvisorSandbox, "runtime", classmethod(lambda _: "another"))
        forking.restore(ready.pk, snapshot.pk)
    spoil(snapshot)
    forking.restore(ready.pk, snapshot.pk)
    ready.refresh_from_db()
    assert ready.state == State.READY
    assert said(ready, "echo $kept") == "yes"
    told = ready.events.filter(text__startswith="It could not go back to its snapshot, and is as it was")
    assert [("only the one that made it" in event.text, "is damaged" in event.text) for event in told] == [
        (True, False),
        (False, True),
    ]


def test_it_stays_stopped_when_it_cannot_be_resumed(ready: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    said(ready, "kept=yes")
    forking.request_stop(ready)
    forking.stop(ready.pk)
    assert forking.request_resume(ready)
    with monkeypatch.context() as upgraded:
        upgraded.setattr(GvisorSandbox, "runtime", classmethod(lambda _: "another"))
        lifecycle.create(ready.pk)
    ready.refresh_from_db()
    assert (ready.state, "could not be resumed" in ready.detail) == (State.STOPPED, True)
    assert forking.request_resume(ready)
    lifecycle.move(ready.pk, State.PROVISIONING, "Making network and disk")
    reaper.sweep()
    ready.refresh_from_db()
    assert ready.state == State.STOPPED
    assert forking.request_resume(ready)
    assert said(created(ready), "echo $kept") == "yes"


def test_it_is_stopped_once_by_two_who_were_asked_to(ready: Machine) -> None:
    def stop() -> None:
        forking.stop(ready.pk)
        connection.close()

    said(ready, "kept=yes")
    forking.request_stop(ready)
    workers = [Thread(target=stop) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    ready.refresh_from_db()
    assert ready.state == State.STOPPED
    assert Snapshot.objects.filter(machine=ready).count() == 1
    assert forking.request_resume(ready)
    assert said(created(ready), "echo $kept") == "yes"


def test_it_leaves_nothing_when_it_is_destroyed_while_it_goes_back(
    ready: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    snapshot = forking.snapshot(ready.pk, "before")
    assert snapshot is not None
    restore = GvisorSandbox.restore

    def meanwhile(sandbox: GvisorSandbox, ref: SnapshotRef) -> None:
        lifecycle.request_destroy(ready)
        lifecycle.destroy(ready.pk)
        restore(sandbox, ref)

    monkeypatch.setattr(GvisorSandbox, "restore", meanwhile)
    forking.restore(ready.pk, snapshot.pk)
    ready.refresh_from_db()
    assert ready.state == State.DESTROYED
    assert ready.pk not in {handle["id"] for handle in GvisorSandbox.owned()}


def test_it_refuses_to_delete_a_snapshot_that_a_stopped_machine_needs(ready: Machine) -> None:
    forking.request_stop(ready)
    forking.stop(ready.pk)
    snapshot = Snapshot.objects.get(machine=ready)
    with pytest.raises(Refused, match="resume it first"):
        forking.request_delete(snapshot)
    lifecycle.request_destroy(ready)
    lifecycle.destroy(ready.pk)
    snapshot_id = snapshot.pk
    assert forking.request_delete(snapshot) > 0
    forking.delete_files(snapshot_id)
    assert snapshot_id not in Snapshots(here()).ids()


def test_it_stops_a_machine_that_nobody_uses(ready: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    long_ago = ready.created_at.replace(year=2020)
    Machine.objects.filter(pk=ready.pk).update(last_used_at=long_ago)
    with lifecycle.attach(ready).desktop():
        reaper.stop_unused()
    ready.refresh_from_db()
    assert ready.state == State.READY
    Machine.objects.filter(pk=ready.pk).update(last_used_at=long_ago)
    reaper.stop_unused()
    ready.refresh_from_db()
    assert ready.state == State.STOPPING


def test_it_stops_a_machine_that_was_on_for_too_long_though_somebody_uses_it(owner: User) -> None:
    chosen = Limits(memory_mib=1024, wall_minutes=30)
    machine = created(lifecycle.request_machine(owner, image="desktop", limits=chosen))
    Machine.objects.update(state_since=timezone.now() - timedelta(minutes=29))
    with lifecycle.attach(machine).desktop():
        reaper.stop_unused()
        machine.refresh_from_db()
        assert machine.state == State.READY
        Machine.objects.update(state_since=timezone.now() - timedelta(minutes=31))
        reaper.stop_unused()
    machine.refresh_from_db()
    assert machine.state == State.STOPPING
    assert forking.why_stopped(machine.pk) == machine.detail == "It has been on for 30 min: saving memory and disk"
    saved = forking.snapshot(machine.pk, "to fork")
    assert saved is not None
    told = created(forking.request_fork(saved, owner, limits=Limits(memory_mib=2048, pids=2000)))
    assert lifecycle.attach(told).limits() == Limits(memory_mib=2048)
    assert [said(each, "free -m | awk '/Mem:/ {print $2}'") for each in (machine, told)] == ["1024", "2048"]


def test_it_makes_new_machines_from_a_template_once_there_is_one(owner: User) -> None:
    template = templates.ensure(GvisorSandbox, store.find("desktop"))
    assert template is not None
    machine = created(lifecycle.request_machine(owner, image="desktop"))
    assert machine.handle["parent"] == template.id


def test_it_hands_out_machines_that_were_ready_before(owner: User, settings: Any) -> None:
    templates.ensure(GvisorSandbox, store.find("desktop"))
    settings.POOL = 1
    reaper.reap()
    spare = Spare.objects.get()
    machine = lifecycle.request_machine(owner, image="desktop", network=Policy("off"))
    assert (machine.pk, machine.state, said(machine, "echo here")) == (spare.pk, State.READY, "here")
    assert lifecycle.request_machine(owner, image="desktop", limits=Limits(cpus=1)).state == State.QUEUED
    reaper.reap()
    Spare.objects.update(image_digest="of an earlier build")
    assert lifecycle.request_machine(owner, image="desktop").state == State.QUEUED
    old = Spare.objects.get()
    reaper.reap()
    assert Spare.objects.get().pk != old.pk
    settings.MACHINE_SLOTS = 3
    reaper.reap()
    assert [handle["id"] for handle in GvisorSandbox.owned()] == [machine.pk]


@pytest.fixture(autouse=True)
def _clear() -> Iterator[None]:
    yield
    reaper.clear_host()
