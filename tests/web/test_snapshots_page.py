from collections.abc import Callable

import pytest
from django.conf import LazySettings
from django.db import connection
from django.test import Client

from godhand_web.models import User
from godhand_web.pages.history import Line, line_of
from godhand_web.pages.stages import stages
from sandboxes import forking, lifecycle
from sandboxes.errors import Refused
from sandboxes.models import Event, Machine, Snapshot, State

from .conftest import MachineOf, SnapshotOf

pytestmark = pytest.mark.usefixtures("redis_url", "image")

Asked = list[tuple[object, ...]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What the host's worker was asked to do."""
    found: Asked = []
    monkeypatch.setattr(lifecycle, "send", lambda task, host, *rest, queue="": found.append((task, *rest)))
    return found


def told(client: Client, at: str, fields: dict[str, str] | None = None) -> str:
    return client.post(at, fields or {}, follow=True).content.decode()


def drawn(line: Line) -> list[object]:
    """Each point as its label, or as its label and the lines at its side."""
    found: list[object] = []
    for point in line:
        name = "here" if point.here else point.snapshot.label if point.snapshot else "image"
        found.append((name, *(drawn(side) for side in point.sides)) if point.sides else name)
    return found


def test_it_stops_and_resumes(as_owner: Client, owner: User, machine_of: MachineOf, asked: Asked) -> None:
    machine = machine_of(owner)
    assert "Memory and disk are being saved" in told(as_owner, f"/machines/{machine.pk}/stop/")
    assert "nothing to stop" in told(as_owner, f"/machines/{machine.pk}/stop/")
    lifecycle.move(machine.pk, State.STOPPED, "Saved whole")
    page = as_owner.get(f"/machines/{machine.pk}/").content.decode()
    assert "This machine is stopped" in page
    assert f"/machines/{machine.pk}/resume/" in page
    assert "Desktop ready" in told(as_owner, f"/machines/{machine.pk}/resume/")
    assert "nothing to resume" in told(as_owner, f"/machines/{machine.pk}/resume/")
    assert asked == [("stop", machine.pk), ("create", machine.pk)]


def test_it_resumes_no_more_machines_than_there_are_slots(
    as_owner: Client, owner: User, machine_of: MachineOf, asked: Asked, settings: LazySettings
) -> None:
    settings.MACHINE_SLOTS = 1
    stopped = machine_of(owner, State.STOPPED)
    assert "Desktop ready" in told(as_owner, f"/machines/{stopped.pk}/resume/")
    Machine.objects.update(state=State.STOPPED)
    Machine.objects.create(name="other", owner=owner, backend="gvisor", image="desktop", host="here")
    full = "All 1 machine slots are in use"
    assert full in told(as_owner, f"/machines/{stopped.pk}/resume/")
    assert full in told(as_owner, "/machines/bulk/", {"verb": "resume", "machine": stopped.pk})
    assert asked == [("create", stopped.pk)]
    stopped.refresh_from_db()
    assert stopped.state == State.STOPPED


def test_it_refuses_to_delete_a_snapshot_that_somebody_forks_meanwhile(
    owner: User, machine_of: MachineOf, snapshot_of: SnapshotOf, asked: Asked
) -> None:
    snapshot = snapshot_of(machine_of(owner))

    def fork_first(execute: Callable[..., object], sql: str, *rest: object) -> object:
        if sql.startswith("UPDATE") and not Machine.objects.filter(made_from=snapshot).exists():
            forking.request_fork(snapshot, owner)
        return execute(sql, *rest)

    with connection.execute_wrapper(fork_first), pytest.raises(Refused, match="come into use just now"):
        forking.request_delete(snapshot)
    assert [task for task, *_ in asked] == ["create"]
    assert Snapshot.objects.filter(pk=snapshot.pk).exists()


def test_it_tells_the_way_anew_after_a_stop(owner: User, machine_of: MachineOf) -> None:
    machine = machine_of(owner, State.BOOTING)
    for state in (State.READY, State.STOPPED, State.QUEUED, State.PROVISIONING, State.BOOTING):
        Event.objects.create(machine=machine, state=state, text=state)
    assert [stage.progress for stage in stages(machine)] == ["done", "done", "now", "next"]


def test_it_lists_stopped_machines_apart(as_owner: Client, owner: User, machine_of: MachineOf) -> None:
    machine = machine_of(owner, State.STOPPED, name="resting-wren")
    assert f"/machines/{machine.pk}/resume/" in as_owner.get("/machines/?tab=stopped").content.decode()
    for page in ("/machines/", "/machines/?tab=ended"):
        assert "resting-wren" not in as_owner.get(page).content.decode(), page


@pytest.mark.parametrize(("given", "kept"), [("  before lunch ", "before lunch"), ("", "by owner, ")])
def test_it_takes_a_snapshot(
    as_owner: Client, owner: User, machine_of: MachineOf, asked: Asked, given: str, kept: str
) -> None:
    machine = machine_of(owner)
    assert "is being taken" in told(as_owner, f"/machines/{machine.pk}/snapshot/", {"label": given})
    [(task, machine_id, label)] = asked
    assert (task, machine_id) == ("snapshot", machine.pk)
    assert str(label).startswith(kept)


@pytest.mark.parametrize(
    ("state", "label", "complaint"),
    [
        (State.STOPPED, "", "nothing to save"),
        (State.READY, "x" * 101, "within 100 characters; this one has 101"),
        (State.READY, "a\u202eb", "a character that cannot be shown"),
    ],
)
def test_it_says_why_no_snapshot_is_taken(
    as_owner: Client, owner: User, machine_of: MachineOf, asked: Asked, state: State, label: str, complaint: str
) -> None:
    machine = machine_of(owner, state)
    assert complaint in told(as_owner, f"/machines/{machine.pk}/snapshot/", {"label": label})
    assert asked == []


def test_it_forks_and_shows_the_child(
    as_owner: Client, owner: User, machine_of: MachineOf, snapshot_of: SnapshotOf, settings: LazySettings
) -> None:
    snapshot = snapshot_of(machine_of(owner, State.DESTROYED))
    at = f"/machines/{snapshot.machine_id}/snapshots/{snapshot.pk}/fork/"
    response = as_owner.post(at)
    child = Machine.objects.get(made_from=snapshot)
    assert response.headers["Location"] == f"/machines/{child.pk}/"
    settings.MACHINE_SLOTS = 1
    assert "All 1 machine slots are in use" in told(as_owner, at)


def test_it_goes_back(
    as_owner: Client, owner: User, machine_of: MachineOf, snapshot_of: SnapshotOf, asked: Asked
) -> None:
    machine = machine_of(owner)
    snapshot = snapshot_of(machine)
    at = f"/machines/{machine.pk}/snapshots/{snapshot.pk}/back/"
    assert "goes back to" in told(as_owner, at)
    assert asked == [("restore", machine.pk, snapshot.pk)]
    Snapshot.objects.update(host="elsewhere")
    assert "is on elsewhere: fork it instead" in told(as_owner, at)
    Machine.objects.update(state=State.STOPPED)
    assert "so it cannot go back" in told(as_owner, at)
    assert len(asked) == 1


def test_it_deletes_and_says_what_that_gives_back(
    as_owner: Client, owner: User, machine_of: MachineOf, snapshot_of: SnapshotOf, asked: Asked
) -> None:
    snapshot = snapshot_of(machine_of(owner))
    at = f"/machines/{snapshot.machine_id}/snapshots/{snapshot.pk}/delete/"
    assert "Gives back" in as_owner.get(f"/machines/{snapshot.machine_id}/?tab=snapshots").content.decode()
    assert "that gives back 312.0\xa0MB" in told(as_owner, at)
    assert asked == [("delete_snapshot", snapshot.pk)]
    assert as_owner.post(at).status_code == 404


def test_it_shows_why_a_snapshot_is_kept(
    as_owner: Client, owner: User, machine_of: MachineOf, snapshot_of: SnapshotOf
) -> None:
    machine = machine_of(owner, State.STOPPED)
    snapshot = snapshot_of(machine)
    Machine.objects.update(made_from=snapshot)
    with pytest.raises(Refused) as refusal:
        forking.request_delete(snapshot)
    assert str(refusal.value) in told(as_owner, f"/machines/{machine.pk}/snapshots/{snapshot.pk}/delete/")
    assert Snapshot.objects.exists()


def test_it_draws_the_line_to_where_one_is(owner: User, machine_of: MachineOf, snapshot_of: SnapshotOf) -> None:
    before, machine = machine_of(owner), machine_of(owner)
    root = snapshot_of(before, "root")
    snapshot_of(before, "not of this line", root)
    base = snapshot_of(before, "base", root)
    snapshot_of(machine, "first", base)
    tried = snapshot_of(machine, "tried", base)
    snapshot_of(machine, "tried further", tried)
    machine.made_from = snapshot_of(machine, "again", base)
    machine.save()
    assert drawn(line_of(owner, machine)) == [
        "image",
        "root",
        ("base", ["first"], ["tried", "tried further"]),
        "again",
        "here",
    ]


def test_it_draws_nothing_that_belongs_to_others(
    stranger: User, owner: User, machine_of: MachineOf, snapshot_of: SnapshotOf
) -> None:
    foreign, machine = snapshot_of(machine_of(owner), "secret"), machine_of(stranger)
    own = snapshot_of(machine, "own", foreign)
    machine_of(owner, name="secret-fork")
    Machine.objects.filter(name="secret-fork").update(made_from=own)
    machine.made_from = foreign
    machine.save()
    line = line_of(stranger, machine)
    assert drawn(line) == [("image", ["own"]), "here"]
    assert line[0].sides[0][0].forks == []
