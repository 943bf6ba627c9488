import os
import signal
from threading import Thread
from typing import Any

import pytest
from django.db import connection
from redis import Redis

from godhand_web.cli.processes import wait_until
from godhand_web.models import User
from sandboxes import lifecycle, network, reaper
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.errors import NotBuilt, TimedOut
from sandboxes.host import here
from sandboxes.models import Machine, State
from sandboxes.runsc import Runsc
from sandboxes.slots import SlotsUsed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]


@pytest.fixture
def queued(owner: User) -> Machine:
    return lifecycle.request_machine(owner, image="desktop")


@pytest.fixture
def ready(queued: Machine) -> Machine:
    lifecycle.create(queued.pk)
    queued.refresh_from_db()
    return queued


def state_of(machine: Machine) -> State:
    return State(Machine.objects.get(pk=machine.pk).state)


def on_host(machine: Machine) -> bool:
    sandbox = lifecycle.attach(machine)
    return sandbox.alive() or machine.pk in {handle["id"] for handle in sandbox.owned()}


def test_it_brings_a_machine_up_and_takes_it_down(ready: Machine) -> None:
    assert state_of(ready) == State.READY
    assert lifecycle.attach(ready).exec(["id", "-un"]).stdout == b"agent\n"
    assert lifecycle.request_destroy(ready)
    lifecycle.destroy(ready.pk)
    assert state_of(ready) == State.DESTROYED
    assert not on_host(ready)
    states = list(ready.events.values_list("state", flat=True))
    assert states == ["queued", "provisioning", "booting", "ready", "destroying", "destroyed"]


def test_it_creates_once_when_two_workers_get_the_same_message(queued: Machine) -> None:
    def create() -> None:
        lifecycle.create(queued.pk)
        connection.close()

    workers = [Thread(target=create) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert list(queued.events.values_list("state", flat=True)).count("booting") == 1
    lifecycle.request_destroy(queued)
    lifecycle.destroy(queued.pk)
    assert not on_host(queued)


def test_it_forgets_a_machine_that_was_unwanted_before_it_began(queued: Machine) -> None:
    lifecycle.request_destroy(queued)
    lifecycle.create(queued.pk)
    lifecycle.destroy(queued.pk)
    assert state_of(queued) == State.DESTROYED
    assert not on_host(queued)


def test_it_says_why_a_machine_could_not_be_made(queued: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GODHAND_RUNSC", "/nowhere/runsc")
    lifecycle.create(queued.pk)
    queued.refresh_from_db()
    assert queued.state == State.FAILED
    assert "runsc is not installed at /nowhere/runsc" in queued.detail
    assert not list(network.owned_ids(here()))


def test_it_names_the_command_that_builds_a_missing_image(owner: User) -> None:
    with pytest.raises(NotBuilt, match=r"\./godhand image build nothing"):
        lifecycle.request_machine(owner, image="nothing")


def test_it_refuses_more_machines_than_there_are_slots(queued: Machine, settings: Any) -> None:
    settings.MACHINE_SLOTS = 1
    with pytest.raises(SlotsUsed, match="GODHAND_MACHINES"):
        lifecycle.request_machine(queued.owner, image="desktop")


def test_it_gives_the_place_of_one_machine_that_leaves_to_another(queued: Machine, settings: Any) -> None:
    settings.MACHINE_SLOTS = 1
    Machine.objects.filter(pk=queued.pk).update(state=State.DESTROYING)
    second = lifecycle.request_machine(queued.owner, image="desktop")
    Machine.objects.filter(pk=second.pk).update(state=State.STOPPING)
    with pytest.raises(SlotsUsed):
        lifecycle.request_machine(queued.owner, image="desktop")


def test_it_notices_a_machine_whose_processes_are_gone(ready: Machine) -> None:
    container = network.namespace_name(here(), ready.pk)
    for pid in Runsc(here()).processes(container):
        os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: not Runsc(here()).alive(container), 10)
    reaper.reap()
    assert state_of(ready) == State.LOST
    assert not on_host(ready)


def test_it_removes_what_no_row_claims_a_minute_after_its_first_sighting(redis_url: str) -> None:
    network.connect(here(), "0rphan0rphan")
    for _ in range(2):
        reaper.reap()
        assert list(network.owned_ids(here())) == ["0rphan0rphan"]
    with Redis.from_url(redis_url) as redis:
        redis.expire("reaper:strike:0rphan0rphan", reaper.STRIKE_SECONDS - reaper.STRIKES_APART)
    reaper.reap()
    assert list(network.owned_ids(here())) == []


def test_it_is_not_kept_from_the_rest_by_one_that_cannot_be_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    destroy = GvisorSandbox.destroy

    def stubborn(sandbox: GvisorSandbox) -> None:
        if sandbox.id == "0rphan0rphan":
            raise TimedOut("It does not go away.")
        destroy(sandbox)

    for machine_id in ("0rphan0rphan", "1rphan1rphan"):
        network.connect(here(), machine_id)
    with monkeypatch.context() as patched:
        patched.setattr(GvisorSandbox, "destroy", stubborn)
        reaper.sweep()
    assert list(network.owned_ids(here())) == ["0rphan0rphan"]
    reaper.sweep()
    assert list(network.owned_ids(here())) == []


def test_it_finishes_what_a_dead_worker_left_undone(queued: Machine) -> None:
    lifecycle.move(queued.pk, State.PROVISIONING, "Making network and disk")
    network.connect(here(), queued.pk)
    reaper.sweep()
    assert state_of(queued) == State.FAILED
    assert not on_host(queued)
