"""What one person may use at once, and how they are told."""

import pytest
from django.conf import LazySettings

from agents.models import Run
from agents.models import State as RunState
from godhand_web.models import User
from godhand_web.quotas import QuotaUsed
from sandboxes import lifecycle
from sandboxes.models import Machine, State
from sandboxes.slots import SlotsUsed

from .access_addresses import client_of
from .conftest import MachineOf, SnapshotOf
from .task_rows import run_in

pytestmark = pytest.mark.usefixtures("redis_url", "image", "staff")


def limited(owner: User, **limits: int) -> User:
    User.objects.filter(pk=owner.pk).update(**limits)
    owner.refresh_from_db()
    return owner


def test_it_refuses_a_machine_too_many_by_name_and_says_who_can_help(owner: User, machine_of: MachineOf) -> None:
    limited(owner, most_machines=1)
    machine_of(owner)
    answer = client_of(owner).post("/machines/new/", {"image": "desktop"})
    assert answer.status_code == 400
    told = "owner has a limit of 1 machine at once: destroy or stop one, or ask staff to raise it"
    assert told in answer.content.decode()
    assert Machine.objects.count() == 1


def test_it_counts_neither_what_has_ended_nor_what_others_have(
    owner: User, stranger: User, machine_of: MachineOf
) -> None:
    limited(owner, most_machines=1)
    for state in (State.STOPPED, State.DESTROYED):
        machine_of(owner, state=state)
    machine_of(stranger)
    assert lifecycle.request_machine(owner, image="desktop")
    with pytest.raises(QuotaUsed):
        lifecycle.request_machine(owner, image="desktop")


def test_it_lets_a_run_wait_for_a_machine_as_it_does_for_the_host() -> None:
    assert issubclass(QuotaUsed, SlotsUsed)


def test_it_resumes_no_machine_too_many(owner: User, machine_of: MachineOf) -> None:
    limited(owner, most_machines=1)
    stopped = machine_of(owner, state=State.STOPPED)
    Machine.objects.bulk_create([Machine(name="other", owner=owner, backend="gvisor", image="desktop", host="here")])
    answer = client_of(owner).post(f"/machines/{stopped.pk}/resume/", follow=True)
    assert "has a limit of 1 machine at once" in answer.content.decode()
    stopped.refresh_from_db()
    assert stopped.state == State.STOPPED


def test_it_refuses_a_task_too_many(owner: User) -> None:
    limited(owner, most_tasks=1)
    run = run_in(owner, RunState.RUNNING)
    answer = client_of(owner).post("/tasks/demo/")
    assert "has a limit of 1 task at once: wait for one to end, or ask staff" in answer.content.decode()
    Run.objects.filter(pk=run.pk).update(state=RunState.SUCCEEDED)
    assert client_of(owner).post("/tasks/demo/").status_code == 302


def test_it_refuses_what_takes_room_once_the_disk_is_used_up(
    owner: User, machine_of: MachineOf, snapshot_of: SnapshotOf
) -> None:
    machine = machine_of(owner)
    snapshot_of(machine)
    limited(owner, most_disk=100 * 2**20)
    client = client_of(owner)
    told = "has a limit of 100.0\xa0MB of disk and 312.0\xa0MB are used: delete snapshots or traces, or ask staff"
    assert told in client.post("/machines/new/", {"image": "desktop"}).content.decode()
    assert told in client.post("/tasks/demo/").content.decode()
    kept = client.post(f"/machines/{machine.pk}/snapshot/", {"label": "one more"}, follow=True)
    assert told in kept.content.decode()


def test_it_has_limits_for_whoever_has_none_of_their_own(
    owner: User, machine_of: MachineOf, settings: LazySettings
) -> None:
    settings.USER_MACHINES = 1
    machine_of(owner)
    with pytest.raises(QuotaUsed):
        machine_of(owner)
    limited(owner, most_machines=2)
    assert machine_of(owner)
