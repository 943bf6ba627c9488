"""Snapshots, forks and restores: a child is its own machine and goes on from where the parent was saved."""

import os
import select
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np
import pytest

from sandboxes.base import Capability, Sandbox
from sandboxes.errors import Gone, Refused
from sandboxes.host import here
from sandboxes.ids import new_id
from sandboxes.snapshots import SnapshotRef, Snapshots

Fork = Callable[[SnapshotRef], Sandbox]


@pytest.fixture(scope="module")
def saved(sandbox: Sandbox) -> Iterator[SnapshotRef]:
    sandbox.write_file("/tmp/before", b"saved")
    ref = sandbox.snapshot("contract")
    yield ref
    Snapshots(here()).delete(ref.id)


@pytest.fixture
def fork(backend: type[Sandbox]) -> Iterator[Fork]:
    children: list[Sandbox] = []

    def fork(ref: SnapshotRef) -> Sandbox:
        child = backend.fork(ref, new_id())
        children.append(child)
        return child

    yield fork
    for child in children:
        child.destroy()


@contextmanager
def root_shell(sandbox: Sandbox) -> Iterator[Callable[[str], None]]:
    """Takes a line, and returns when it was done."""
    ours, theirs = os.openpty()
    with (
        os.fdopen(ours, "r+b", buffering=0) as terminal,
        os.fdopen(theirs) as end,
        subprocess.Popen(sandbox.root_shell(), stdin=end, stdout=end, stderr=end, start_new_session=True) as shell,
    ):

        def tell(line: str) -> None:
            terminal.write(f"{line}; echo do''ne\n".encode())
            said = b""
            while b"done" not in said:
                assert select.select([terminal], [], [], 30)[0], f"it said only {said!r}"
                said += terminal.read(4096)

        try:
            tell("true")
            yield tell
            terminal.write(b"exit\n")
            assert shell.wait(30) == 0
        finally:
            shell.kill()


@pytest.fixture(scope="module")
def child(backend: type[Sandbox], saved: SnapshotRef) -> Iterator[Sandbox]:
    """One that checks share: it goes on as it was."""
    child = backend.fork(saved, new_id())
    yield child
    child.destroy()


def test_it_leaves_the_parent_running(sandbox: Sandbox, saved: SnapshotRef) -> None:
    assert sandbox.exec(["cat", "/tmp/before"]).stdout == b"saved"


def test_it_says_what_it_keeps(backend: type[Sandbox], saved: SnapshotRef) -> None:
    memory = Capability.SNAPSHOT_MEMORY in backend.capabilities
    assert saved.keeps == ("disk+memory" if memory else "disk")
    assert saved.size > 0


def test_it_forks_many_children_at_once(saved: SnapshotRef, fork: Fork) -> None:
    with ThreadPoolExecutor(3) as pool:
        children = list(pool.map(fork, [saved] * 3))
    assert [child.read_file("/tmp/before") for child in children] == [b"saved"] * 3
    assert len({child.endpoint().host for child in children}) == 3


def test_it_lets_parent_and_child_diverge(sandbox: Sandbox, child: Sandbox) -> None:
    child.write_file("/tmp/child", b"")
    sandbox.write_file("/tmp/parent", b"")
    assert sandbox.exec(["test", "-e", "/tmp/child"]).returncode == 1
    assert child.exec(["test", "-e", "/tmp/parent"]).returncode == 1


def test_it_gives_a_child_an_identity_of_its_own(sandbox: Sandbox, child: Sandbox) -> None:
    assert child.endpoint().token != sandbox.endpoint().token
    stranger = type(child).attach({**child.handle, "token": sandbox.endpoint().token})
    with pytest.raises(Refused):
        stranger.exec(["true"])
    for command in (["cat", "/etc/machine-id"], ["python3", "-c", "import uuid; print(uuid.uuid4())"]):
        assert child.exec(command).stdout != sandbox.exec(command).stdout


def test_it_sets_the_childs_clock(sandbox: Sandbox, child: Sandbox) -> None:
    times = [int(machine.exec(["date", "+%s"]).stdout) for machine in (sandbox, child, sandbox)]
    assert times == sorted(times)


def test_it_keeps_shells_with_their_variables_directories_and_jobs(sandbox: Sandbox, fork: Fork) -> None:
    with sandbox.guest() as guest:
        guest.bash("cd /var/tmp; kept=yes; sleep 1000 &", session="contract")
    ref = sandbox.snapshot("contract")
    with fork(ref).guest() as guest:
        seen = guest.bash("echo $kept $PWD; jobs -r", session="contract").output.decode()
    with sandbox.guest() as guest:
        guest.bash("kill %1", session="contract")
    Snapshots(here()).delete(ref.id)
    assert seen.startswith("yes /var/tmp\n")
    assert "sleep 1000" in seen


def test_it_shows_the_same_screen_in_the_child(sandbox: Sandbox, child: Sandbox) -> None:
    with sandbox.desktop() as desktop:
        parents = desktop.screenshot().pixels
    with child.desktop() as desktop:
        childs = desktop.screenshot().pixels
    assert np.mean(np.any(parents != childs, axis=2)) < 0.01


def test_it_keeps_the_display_of_a_machine_that_was_watched(sandbox: Sandbox, fork: Fork) -> None:
    display = sandbox.exec(["pgrep", "-x", "Xvnc"]).stdout
    with sandbox.desktop(), sandbox.desktop():
        ref = sandbox.snapshot("contract, watched")
    children = [fork(ref) for _ in range(3)]
    Snapshots(here()).delete(ref.id)
    for child in children:
        for _ in range(3):
            with child.desktop() as desktop:
                assert not desktop.screenshot().blank
        assert child.exec(["pgrep", "-x", "Xvnc"]).stdout == display


def test_it_forks_a_fork(saved: SnapshotRef, fork: Fork) -> None:
    child = fork(saved)
    child.write_file("/tmp/child", b"once removed")
    again = child.snapshot("contract, again")
    assert again.parent == saved.id
    assert fork(again).read_file("/tmp/child") == b"once removed"
    Snapshots(here()).delete(again.id)


def test_it_goes_back_in_place(saved: SnapshotRef, fork: Fork) -> None:
    child = fork(saved)
    child.write_file("/tmp/after", b"")
    child.restore(saved)
    assert child.exec(["ls", "/tmp/before", "/tmp/after"]).stdout == b"/tmp/before\n"


def test_it_outlives_the_machine_it_was_taken_of(saved: SnapshotRef, fork: Fork) -> None:
    child = fork(saved)
    ref = child.snapshot("contract, outlives")
    child.destroy()
    assert fork(ref).read_file("/tmp/before") == b"saved"
    Snapshots(here()).delete(ref.id)


def test_it_leaves_no_snapshot_of_a_machine_that_is_not_there(backend: type[Sandbox]) -> None:
    before = Snapshots(here()).ids()
    gone = backend.attach({"id": new_id(), "image": "desktop", "image_digest": "", "image_root": "", "parent": None})
    with pytest.raises(Gone):
        gone.snapshot("nothing")
    assert Snapshots(here()).ids() == before


def test_it_works_while_somebody_watches(sandbox: Sandbox) -> None:
    with sandbox.desktop() as watching:
        ref = sandbox.snapshot("contract, watched")
        with pytest.raises(Gone):
            watching.screenshot()
    Snapshots(here()).delete(ref.id)
    with sandbox.desktop() as again:
        assert not again.screenshot().blank


def test_it_is_saved_with_what_a_root_shell_left_but_not_with_one(child: Sandbox, fork: Fork) -> None:
    with root_shell(child) as tell:
        tell("setsid sleep 1000 & until pgrep -x sleep; do :; done")
        with pytest.raises(Refused, match="root shell"):
            child.snapshot("contract, with a shell")
    ref = child.snapshot("contract, after a shell")
    fork(ref)
    Snapshots(here()).delete(ref.id)
