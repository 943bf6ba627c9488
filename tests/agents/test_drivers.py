"""Whoever drove before is out: workers that slept, people who fight, keys that many change at once."""

import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from django.db import connection

from agents.models import State
from godhand_web.models import User
from sandboxes import lease
from sandboxes import rekey as rekeying
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.errors import Refused, Taken
from sandboxes.guest.connection import Connection, Header
from sandboxes.ids import new_id
from sandboxes.models import Machine
from sandboxes.rekey import FORMER, MOST_FORMER, agree, rekey
from tests.guest.waiting import eventually
from tests.providers.wire import WireServer
from tests.providers.wire.replies import action, message

from .conftest import Submit
from .taking import state, taken
from .test_durability import Worker, worker  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)

KILLED_IN_THE_ACT = -signal.SIGKILL
"""The end of a worker that was stopped while it was sending; of one that was stopped before or after, it is 0."""


def test_it_stops_a_worker_that_slept_through_a_take_over(
    submit_to_claude: Submit,
    wire: WireServer,
    row: Machine,
    owner: User,
    worker: Worker,  # noqa: F811
    machine: GvisorSandbox,
) -> None:
    branch = submit_to_claude()
    with machine.guest() as guest:
        guest.bash("rm -f /tmp/keys; stdbuf -oL xev -event keyboard >/tmp/keys &", session="keys")
    machine.exec(["xdotool", "search", "--sync", "--onlyvisible", "--name", "Event Tester"], timeout=30)
    wire.will(message(action("hold_key", text="q", duration=60)))
    stale = worker(branch)
    eventually(lambda: machine.read_file("/tmp/keys").count(b"KeyPress") > 2, 30)
    stale.send_signal(signal.SIGSTOP)
    taken(row, owner, interrupt=True)
    row.refresh_from_db()
    machine.handle = row.handle
    pressed = machine.read_file("/tmp/keys").count(b"KeyPress")
    with suppress(ProcessLookupError):
        stale.send_signal(signal.SIGCONT)
    assert stale.wait(60) in (0, KILLED_IN_THE_ACT)
    assert machine.read_file("/tmp/keys").count(b"KeyPress") == pressed
    assert state(branch) == State.HUMAN_CONTROL
    with machine.guest() as guest:
        guest.restart_bash("keys")


def test_it_never_lets_two_send_however_they_fight(row: Machine, owner: User, staff: User) -> None:
    """The fence is asked all the time; whoever it lets through says so, and nobody else may meanwhile."""
    inside: list[str] = []
    wrong: list[list[str]] = []
    over = threading.Event()
    fence = lease.fence_of(row.pk)

    def send(holder: str) -> None:
        while not over.is_set():
            with suppress(Taken), fence.passing(holder):
                inside.append(holder)
                if len(set(inside)) > 1:
                    wrong.append(list(inside))
                inside.remove(holder)

    def grab(person: User | None) -> None:
        try:
            for _ in range(15):
                held = lease.of(row.pk)
                lease.change(held, lease.holder_of(person) if person else lease.AGENT)
        finally:
            connection.close()

    people = [lease.holder_of(owner), lease.holder_of(staff), lease.AGENT]
    senders = [threading.Thread(target=send, args=(holder,)) for holder in people]
    takers = [threading.Thread(target=grab, args=(person,)) for person in (owner, staff, None)]
    for thread in senders + takers:
        thread.start()
    for thread in takers:
        thread.join()
    over.set()
    for thread in senders:
        thread.join()
    assert wrong == []
    held = lease.of(row.pk)
    assert (fence.held().epoch, fence.held().holder) == (held.epoch, held.holder)


def test_it_changes_hands_as_often_as_it_is_asked_to(row: Machine, owner: User, staff: User) -> None:
    took = []
    for person in (owner, staff) * 5:
        began = time.monotonic()
        assert lease.change(lease.of(row.pk), lease.holder_of(person))
        took.append((time.monotonic() - began) * 1000)
    print(f"It changes hands in {sorted(took)[len(took) // 2]:.0f} ms.")
    assert lease.of(row.pk).epoch == 10


def test_it_keeps_one_key_when_many_change_it_at_once(machine: GvisorSandbox, row: Machine) -> None:
    old = GvisorSandbox.attach(row.handle)

    def changes(_: int) -> None:
        rekey(Machine.objects.get(pk=row.pk))
        connection.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(changes, range(8)))
    row.refresh_from_db()
    machine.handle = row.handle
    assert machine.exec(["echo", "here"]).stdout == b"here\n"
    with pytest.raises(Refused):
        old.exec(["true"])


def test_it_gives_its_key_also_when_another_is_given_at_that_moment(
    machine: GvisorSandbox, row: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    row.handle = {**row.handle, "token": "of somebody a little earlier", FORMER: [row.handle["token"]]}
    row.save()
    request, earlier = Connection.request, [Machine.objects.get(pk=row.pk)]

    def is_late(self: Connection, header: Header, *rest: Any) -> Any:
        if header.get("op") == "rekey" and earlier:
            agree(earlier.pop())
        return request(self, header, *rest)

    monkeypatch.setattr(Connection, "request", is_late)
    rekey(row)
    row.refresh_from_db()
    machine.handle = row.handle
    assert machine.exec(["echo", "here"]).stdout == b"here\n"


def test_it_finds_its_key_after_many_that_never_reached_the_machine(machine: GvisorSandbox, row: Machine) -> None:
    there = row.handle["address"]
    row.handle = {**row.handle, "address": "127.0.0.1"}
    row.save()
    for _ in range(MOST_FORMER + 2):
        rekey(row)
    row.handle = {**row.handle, "address": there}
    row.save()
    agree(row)
    machine.handle = row.handle
    assert machine.exec(["echo", "here"]).stdout == b"here\n"
    row.refresh_from_db()
    assert FORMER not in row.handle


def test_it_tries_no_more_keys_of_a_machine_that_takes_too_long(
    machine: GvisorSandbox, row: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    row.handle = {**row.handle, FORMER: ["one before"]}
    row.save()
    with monkeypatch.context() as patched:
        patched.setattr(rekeying, "PATIENCE", -1)
        agree(row)
    assert FORMER in row.handle
    agree(row)
    assert FORMER not in row.handle


def test_it_finds_the_key_that_an_older_godhand_wrote_down(machine: GvisorSandbox, row: Machine) -> None:
    row.handle = {**row.handle, "token": "never came to the machine", "former_token": row.handle["token"]}
    row.save()
    rekey(row)
    machine.handle = row.handle
    assert machine.exec(["echo", "here"]).stdout == b"here\n"


def test_it_finds_the_key_of_a_machine_that_went_back_meanwhile(machine: GvisorSandbox, row: Machine) -> None:
    row.handle = {**row.handle, "token": "of another time", FORMER: ["and the one before"]}
    agree(row)
    assert row.handle == machine.handle


def test_it_forks_a_machine_that_was_saved_while_its_key_was_changed(machine: GvisorSandbox, row: Machine) -> None:
    old = GvisorSandbox.attach(row.handle)
    rekey(row)
    machine.handle = row.handle
    with pytest.raises(Refused):
        old.exec(["true"])
    child = GvisorSandbox.fork(old.snapshot("with the old key"), new_id())
    try:
        assert child.exec(["echo", "here"]).stdout == b"here\n"
    finally:
        child.destroy()
