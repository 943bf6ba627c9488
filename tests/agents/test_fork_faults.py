"""Something dies in the middle of a fork: the parent is unharmed, nothing is left half made, the others go on."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from redis import Redis

from agents import exploring, keeping, leases
from agents import lifecycle as agents
from agents.models import Branch, State, Task
from agents.points import on_path
from agents.wanted import want_snapshot
from bench.density import on_host
from godhand_web.models import User
from sandboxes import forking, lifecycle, reaper
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.errors import SandboxError
from sandboxes.host import here
from sandboxes.models import Machine, Snapshot
from sandboxes.models import State as MachineState
from sandboxes.snapshots import Snapshots
from tests.guest.waiting import eventually
from tests.providers.wire import Hang, Request, WireServer
from tests.providers.wire.replies import message, use
from traces.queries import head_of

from .conftest import Begin, Submit
from .story import actions, drive, story
from .test_durability import Worker, worker  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)
ALIVE = "alive:machines"
IS_B = {"name": "b", "kind": "file_contains", "path": "out.txt", "text": "b"}


def state_of(machine: Machine) -> str:
    machine.refresh_from_db()
    return machine.state


@pytest.fixture
def parent(owner: User, machine_row: Machine, settings: Any) -> Iterator[Machine]:
    """A machine of one's own; the reaper knows of it and of the shared one. The host's process may be making it."""
    settings.WARM_TEMPLATES = False
    forget_snapshots()
    Machine.objects.filter(pk=machine_row.pk).update(host=settings.MACHINE_HOST)
    machine = lifecycle.request_machine(owner, image="desktop")
    lifecycle.create(machine.pk)
    eventually(lambda: state_of(machine) == MachineState.READY, 30)
    yield machine
    for row in Machine.objects.exclude(pk=machine_row.pk):
        lifecycle.attach(row).destroy()
    forget_snapshots()


def forget_snapshots() -> None:
    """Also those of earlier tests, whose rows are gone."""
    for snapshot_id in Snapshots(here()).ids():
        Snapshots(here()).delete(snapshot_id)


class Host:
    """The process that does all that is done to this host's machines. It can be killed, and begun again."""

    def __init__(self, redis_url: str) -> None:
        self.env = {**os.environ, "GODHAND_REDIS_URL": redis_url, "GODHAND_TEMPLATES": "no"}
        self.redis = Redis.from_url(redis_url)
        self.process: subprocess.Popen[bytes] | None = None

    def begin(self) -> None:
        """Returns once it serves: what is made before that was another's, who has died."""
        self.redis.delete(ALIVE)
        argv = [sys.executable, "-m", "tests.agents.machines_worker", str(connection.settings_dict["NAME"])]
        self.process = subprocess.Popen(argv, env=self.env, stdin=subprocess.DEVNULL)
        eventually(lambda: bool(self.redis.exists(ALIVE)), 30)

    def die(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()


@pytest.fixture(scope="module")
def host(redis_url: str, django_db_setup: None) -> Iterator[Host]:
    """One for all tests: whoever kills it begins it again."""
    host = Host(redis_url)
    host.begin()
    yield host
    host.die()


@pytest.fixture
def main(submit_to_claude: Submit, parent: Machine) -> Branch:
    branch = submit_to_claude(checks=[IS_B], plan={"stop": "all", "judge": False})
    Branch.objects.filter(pk=branch.pk).update(machine=parent)
    branch.refresh_from_db()
    return branch


def by_hint(request: Request) -> dict[str, Any]:
    """A model that forks into “write a” and “write b”, each of which does what it is told."""
    said = str(request.body["messages"])
    if "this way: " not in said:
        return message(use("machine", verb="fork", alternatives=["write a", "write b"], rest=True))
    letter = "a" if "this way: write a" in said else "b"
    if "Wrote" not in said:
        return message(use("files", verb="create", path="out.txt", content=letter))
    return message(use("done", summary="It is written."))


def unharmed(machine: Machine) -> bool:
    """It answers, within the time that a snapshot under way takes: at its end connections are cut."""
    with suppress(SandboxError):
        return lifecycle.attach(machine).exec(["echo", "here"]).stdout == b"here\n"
    return False


def half_made() -> list[str]:
    """What belongs to nobody: snapshots without a row, and machines that no row claims."""
    rows = set(Snapshot.objects.values_list("pk", flat=True))
    loose = [found for found in Snapshots(here()).ids() if found not in rows]
    return loose + [machine_id for _, machine_id in reaper.unclaimed()]


def children(main: Branch) -> list[Branch]:
    return list(main.run.branches.filter(parent=main).order_by("name"))


def see_through(main: Branch) -> None:
    """As the reconciler does: whoever nobody drives is driven, until the choice."""
    for branch in children(main):
        drive(branch)
    exploring.advance(main.run_id)
    main.run.refresh_from_db()


def test_it_forks_once_when_its_worker_dies_after_the_fork(
    main: Branch,
    wire: WireServer,
    worker: Worker,  # noqa: F811
    host: Host,
) -> None:
    wire.will(*[by_hint] * 20)
    assert worker(main, "after the act").wait(60) == -signal.SIGKILL
    first = children(main)
    assert [branch.hint for branch in first] == ["write a", "write b"]
    eventually(lambda: main.pk in leases.expired(), 20)
    assert drive(main).state == State.CANCELLED
    assert actions(main)[0] == ("machine", "done")
    assert children(main) == first
    assert Snapshot.objects.count() == 1
    see_through(main)
    assert (main.run.state, main.run.chosen) == (State.SUCCEEDED, first[1])


def test_it_saves_once_when_its_worker_dies_before_the_branches_are_there(
    main: Branch,
    wire: WireServer,
    worker: Worker,  # noqa: F811
    host: Host,
) -> None:
    wire.will(*[by_hint] * 20)
    assert worker(main, "before the branches").wait(60) == -signal.SIGKILL
    assert (Snapshot.objects.count(), children(main)) == (1, [])
    eventually(lambda: main.pk in leases.expired(), 20)
    assert drive(main).state == State.CANCELLED
    assert {branch.snapshot for branch in children(main)} == {Snapshot.objects.get()}
    for branch in children(main):
        agents.request_cancel(branch)


def test_it_leaves_nothing_of_a_child_that_is_cancelled_while_its_machine_is_made(
    main: Branch, parent: Machine, wire: WireServer, host: Host, begin: Begin
) -> None:
    Task.objects.update(keep_machine=False)
    wire.will(*[by_hint] * 20)
    assert drive(main).state == State.CANCELLED
    first, second = children(main)
    begin(first)
    eventually(lambda: Machine.objects.filter(state=MachineState.PROVISIONING).exists(), 30)
    child = Machine.objects.get(state=MachineState.PROVISIONING)
    agents.request_cancel(first)
    eventually(lambda: Branch.objects.get(pk=first.pk).state == State.CANCELLED, 30)
    assert unharmed(parent)
    see_through(main)
    assert (main.run.state, main.run.chosen) == (State.SUCCEEDED, second)
    come_to(child, MachineState.DESTROYED)
    assert half_made() == []


def test_it_saves_where_checks_have_passed_and_where_a_person_wants_it(
    main: Branch, wire: WireServer, host: Host
) -> None:
    Task.objects.update(checks=[{**IS_B, "when": ["step"]}], plan={"verified": True})
    main.refresh_from_db()

    def wish(_: Request) -> dict[str, Any]:
        want_snapshot(main, "as I like it")
        connection.close()
        return message(use("bash", command="true"))

    wire.will(
        message(use("files", verb="create", path="out.txt", content="b")), wish, message(use("done", summary="!"))
    )
    assert drive(main).state == State.SUCCEEDED
    assert [row.label for row in Snapshot.objects.all()] == ["verified after 1 steps", "as I like it"]
    head = head_of(main.run.trace_id, "main")
    assert head
    assert [(point.label, point.verified) for point in on_path(main.run, head)] == [
        ("verified after 1 steps", 1.0),
        ("as I like it", 1.0),
    ]


def test_it_saves_again_when_the_machines_worker_dies_over_it(
    main: Branch, parent: Machine, wire: WireServer, host: Host, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "ASK_AGAIN", 4.0)
    wire.will(*[by_hint] * 20)
    making = Snapshots(here()).root
    begin(main)
    eventually(lambda: any(making.glob(".making-*")), 30)
    host.die()
    eventually(lambda: unharmed(parent), 20)
    host.begin()
    eventually(lambda: len(children(main)) == 2, 60)
    eventually(lambda: unharmed(parent), 20)
    Snapshots(here()).sweep(older_than=0)
    assert half_made() == []
    see_through(main)
    assert main.run.state == State.SUCCEEDED


def test_it_makes_a_child_anew_when_the_machines_worker_dies_over_it(
    main: Branch, wire: WireServer, host: Host, begin: Begin
) -> None:
    wire.will(*[by_hint] * 20)
    assert drive(main).state == State.CANCELLED
    first, second = children(main)
    begin(first)
    eventually(lambda: Machine.objects.filter(state=MachineState.PROVISIONING).exists(), 30)
    host.die()
    doomed = Machine.objects.get(state=MachineState.PROVISIONING)
    host.begin()
    eventually(lambda: Branch.objects.get(pk=first.pk).ended, 60)
    doomed.refresh_from_db()
    assert doomed.state == MachineState.FAILED
    first.refresh_from_db()
    assert first.machine_id != doomed.pk
    see_through(main)
    assert (main.run.state, main.run.chosen) == (State.SUCCEEDED, second)
    assert half_made() == []


def test_it_goes_on_without_a_child_whose_machine_dies(
    main: Branch, parent: Machine, wire: WireServer, host: Host, begin: Begin
) -> None:
    wire.will(by_hint, Hang(), *[by_hint] * 10)
    assert drive(main).state == State.CANCELLED
    first, second = children(main)
    begin(first)
    eventually(lambda: len(wire.requests) == 2, 30)
    first.refresh_from_db()
    assert first.machine
    os.kill(first.machine.handle["pid"], signal.SIGKILL)
    wire.closing.set()
    eventually(lambda: Branch.objects.get(pk=first.pk).state == State.INFRA_ERROR, 30)
    assert drive(second).state == State.SUCCEEDED
    exploring.advance(main.run_id)
    main.run.refresh_from_db()
    assert (main.run.state, main.run.chosen) == (State.SUCCEEDED, second)
    eventually(lambda: unharmed(parent), 20)
    assert "error broken" in story(first)


def test_it_leaves_the_parent_unharmed_when_runsc_dies(parent: Machine, host: Host) -> None:
    """A snapshot that was cut short is none, and a child that was cut short is not on the host."""
    row: Snapshot | None = None
    killed: list[str] = []
    for moment in (0.0, 0.02, 0.1, 0.25, 0.5):
        with runsc_dies("checkpoint", moment, killed), suppress(SandboxError):
            row = forking.snapshot(parent.pk, f"cut short after {moment}") or row
        eventually(lambda: unharmed(parent), 20)
        assert half_made() == []
        assert list(Snapshots(here()).root.glob(".making-*")) == []
    row = row or forking.snapshot(parent.pk, "after all")
    assert row is not None
    for moment in (0.0, 0.02, 0.1, 0.25, 0.5):
        with runsc_dies("restore", moment, killed):
            child = forking.request_fork(row, parent.owner)
            come_to(child, MachineState.READY, MachineState.FAILED)
        on_host = child.pk in {handle["id"] for handle in GvisorSandbox.owned()}
        assert on_host is (child.state == MachineState.READY)
        lifecycle.request_destroy(child)
        eventually(lambda: unharmed(parent), 20)
    assert set(killed) == {"checkpoint", "restore"}


def test_it_leaves_nothing_of_forks_of_forks(parent: Machine, host: Host) -> None:
    before = on_host()
    made, machine = [], parent
    for depth in range(3):
        row = forking.snapshot(machine.pk, f"{depth} deep")
        assert row is not None
        machine = forking.request_fork(row, parent.owner)
        come_to(machine, MachineState.READY)
        made.append((row, machine))
    assert unharmed(machine)
    for row, machine in made:
        assert lifecycle.request_destroy(machine)
        come_to(machine, MachineState.DESTROYED)
        assert forking.request_delete(row) > 0
    eventually(lambda: Snapshots(here()).ids() == [], 20)
    assert {kind: names - before[kind] for kind, names in on_host().items()} == {kind: set() for kind in before}


def come_to(machine: Machine, *states: MachineState) -> None:
    eventually(lambda: Machine.objects.get(pk=machine.pk).state in states, 60)
    machine.refresh_from_db()


@contextmanager
def runsc_dies(verb: str, moment: float, killed: list[str]) -> Iterator[None]:
    """So long after it began, or not if it has ended by then. The wait is for nothing: it is the moment of death."""
    over = threading.Event()
    death = threading.Thread(target=kill_runsc, args=(verb, moment, over, killed))
    death.start()
    try:
        yield
    finally:
        over.set()
        death.join()


def kill_runsc(verb: str, moment: float, over: threading.Event, killed: list[str]) -> None:
    """The program of this home that saves or wakes a machine, so long after it began."""
    while not over.is_set():
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            if _does(path, verb):
                over.wait(moment)
                if _does(path, verb) and _kill(int(path.parent.name)):
                    killed.append(verb)
                return


def _does(path: Path, verb: str) -> bool:
    """A process that has ended has no arguments any more, also while nobody has asked how it ended."""
    argv, root = _read(path).split(b"\0"), str(here().machines).encode()
    return argv[0].endswith(b"runsc") and verb.encode() in argv and any(root in word for word in argv)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _kill(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
        return True
    return False
