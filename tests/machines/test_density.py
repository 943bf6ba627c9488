"""The benchmark of many desktops leaves none, also when it fails."""

import threading

import pytest

from bench.density import desktops, on_host
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.errors import SandboxError
from sandboxes.host import here
from sandboxes.snapshots import SnapshotRef, Snapshots


def test_it_leaves_no_desktop_when_one_cannot_be_made(machine: GvisorSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    ref, before, fork = machine.snapshot("many"), on_host(), GvisorSandbox.fork
    failing: dict[str, str] = {}
    beside = threading.Event()

    def fork_but_one(ref: SnapshotRef, name: str) -> GvisorSandbox:
        if failing.setdefault("name", name) == name:
            assert beside.wait(30)
            raise SandboxError("There is no room.")
        beside.set()
        return fork(ref, name)

    monkeypatch.setattr(GvisorSandbox, "fork", fork_but_one)
    with pytest.raises(SandboxError, match="no room"), desktops(ref, 3):
        raise AssertionError
    Snapshots(here()).delete(ref.id)
    assert {kind: names - before[kind] for kind, names in on_host().items()} == {kind: set() for kind in before}
