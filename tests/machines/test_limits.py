"""Each limit is attacked from inside a small machine while another one, and the host, must go on as if nothing was."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from godhand_web.cli.processes import wait_until
from sandboxes import limits
from sandboxes.backends.gvisor import GvisorSandbox, Options
from sandboxes.host import here
from sandboxes.ids import new_id
from sandboxes.images import store
from sandboxes.limits import CGROUPS, MIB, Limits, Usage, control_groups, unified, usage
from sandboxes.network import namespace_name

SMALL = Limits(cpus=1, memory_mib=768, pids=300, disk_mib=128)
BURN = "for i in 1 2; do timeout 3 sh -c 'while :; do :; done' & done; wait"
FORK_BOMB = "bomb() { bomb | bomb & }; bomb"
MANY_FILES = "for i in $(seq 80); do head -c 128M /dev/zero > ~/part$i; done"
SMALL_FILES = """python3 -c 'for i in range(10**7): open(f"/home/agent/{i}", "w").write("x")'"""
PATIENCE = 20


@contextmanager
def started(given: Limits) -> Iterator[GvisorSandbox]:
    sandbox = GvisorSandbox.create(new_id(), store.find("desktop"), Options(limits=given))
    try:
        sandbox.start()
        yield sandbox
    finally:
        sandbox.destroy()


@pytest.fixture
def victim() -> Iterator[GvisorSandbox]:
    with started(SMALL) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def sturdy() -> Iterator[GvisorSandbox]:
    """For attacks that a machine survives."""
    with started(SMALL) as sandbox:
        yield sandbox


def used(sandbox: GvisorSandbox) -> Usage:
    found = usage(sandbox.container)
    assert found
    return found


def attack(sandbox: GvisorSandbox, script: str) -> None:
    """In the background: the machine may not live to tell."""
    sandbox.exec(["bash", "-c", f"({script}) < /dev/null > /dev/null 2>&1 &"], timeout=PATIENCE)


def seconds_for_a_screenshot(sandbox: GvisorSandbox) -> float:
    began = time.monotonic()
    with sandbox.desktop() as desktop:
        assert not desktop.screenshot().blank
    return time.monotonic() - began


def group_of(sandbox: GvisorSandbox) -> Path:
    return CGROUPS / ("" if unified() else "memory") / sandbox.container


def is_held(sandbox: GvisorSandbox) -> bool:
    """Whether its control group has all its processes, and so all that they begin and write."""
    processes = set(sandbox.runsc.processes(sandbox.container))
    return bool(processes) and processes <= set(map(int, (group_of(sandbox) / "cgroup.procs").read_text().split()))


def most_memory(sandbox: GvisorSandbox) -> int:
    """MiB that it has ever used, in whole ones: a kernel may charge a few pages beyond the limit.

    What the host has left says little while other tests begin machines.
    """
    names = ("memory.max_usage_in_bytes", "memory.peak", "memory.current")
    return next(int(path.read_text()) for name in names if (path := group_of(sandbox) / name).exists()) // MIB


def test_it_gives_a_busy_machine_no_more_processor_than_its_share(sturdy: GvisorSandbox) -> None:
    before, began = used(sturdy).cpu_seconds, time.monotonic()
    sturdy.exec(["sh", "-c", BURN], timeout=30)
    share = (used(sturdy).cpu_seconds - before) / (time.monotonic() - began)
    assert 0.05 < share < SMALL.cpus * 1.15


def test_it_shows_what_a_machine_uses_and_may_use(sturdy: GvisorSandbox) -> None:
    found = used(sturdy)
    assert found.memory_limit == SMALL.memory_mib * MIB
    assert 20 * MIB < found.memory_bytes < found.memory_limit
    assert found.pids > 5
    total = sturdy.exec(["free", "-m"]).stdout.decode().split("Mem:")[1].split()[0]
    assert int(total) == SMALL.memory_mib


@pytest.mark.parametrize("path", ["/home/agent/big", "/tmp/big", "/dev/shm/big"])
def test_it_ends_a_huge_file_early(sturdy: GvisorSandbox, path: str) -> None:
    written = sturdy.exec(["sh", "-c", f"head -c 10G /dev/zero > {path}; stat -c %s {path}; rm {path}"], timeout=60)
    assert int(written.stdout) <= max(SMALL.disk_mib, SMALL.memory_mib // 2) * MIB
    assert b"limit exceeded" in written.stderr or b"No space left" in written.stderr


def test_it_survives_disk_writes_without_end(machine: GvisorSandbox, victim: GvisorSandbox) -> None:
    assert is_held(victim)
    attack(victim, MANY_FILES)
    assert wait_until(lambda: used(victim).oom_kills > 0, 60)
    assert most_memory(victim) <= SMALL.memory_mib
    assert seconds_for_a_screenshot(machine) < PATIENCE


def test_it_keeps_many_small_files_inside(machine: GvisorSandbox) -> None:
    with started(replace(SMALL, memory_mib=448)) as victim:
        before = os.statvfs(here().home).f_ffree
        assert is_held(victim)
        attack(victim, SMALL_FILES)
        assert wait_until(lambda: used(victim).oom_kills > 0, 120)
        assert before - os.statvfs(here().home).f_ffree < 10_000
        assert most_memory(victim) <= 448
        assert seconds_for_a_screenshot(machine) < PATIENCE


def test_it_contains_a_program_that_eats_memory(machine: GvisorSandbox, victim: GvisorSandbox) -> None:
    assert is_held(victim)
    attack(victim, "tail /dev/zero")
    assert wait_until(lambda: used(victim).oom_kills > 0, 60)
    assert most_memory(victim) <= SMALL.memory_mib
    assert seconds_for_a_screenshot(machine) < PATIENCE


def test_it_contains_a_fork_bomb(machine: GvisorSandbox, victim: GvisorSandbox) -> None:
    quiet = used(victim).pids
    attack(victim, FORK_BOMB)
    assert wait_until(lambda: used(victim).pids > quiet + SMALL.pids // 2, 60)
    assert seconds_for_a_screenshot(machine) < PATIENCE
    assert used(victim).pids < 2 * SMALL.pids + 512
    victim.destroy()
    assert usage(victim.container) is None


def test_it_limits_a_fork_like_its_parent(sturdy: GvisorSandbox) -> None:
    child = GvisorSandbox.fork(sturdy.snapshot("limits"), new_id())
    try:
        assert used(child).memory_limit == SMALL.memory_mib * MIB
    finally:
        child.destroy()


def test_it_finds_and_removes_a_control_group_that_was_left_over() -> None:
    container = namespace_name(here(), "0rphan0rphan")
    (CGROUPS / ("" if unified() else "memory") / container).mkdir()
    assert {"id": "0rphan0rphan"} in list(GvisorSandbox.owned())
    GvisorSandbox.attach({"id": "0rphan0rphan"}).destroy()
    assert control_groups(container) == set()


def test_it_reads_control_groups_of_version_2_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    group = tmp_path / "gh-some-machine"
    group.mkdir()
    (tmp_path / "cgroup.controllers").write_text("cpu memory pids\n")
    (group / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n")
    (group / "memory.current").write_text("1048576\n")
    (group / "memory.max").write_text("max\n")
    (group / "memory.events").write_text("low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\n")
    (group / "pids.current").write_text("41\n")
    monkeypatch.setattr(limits, "CGROUPS", tmp_path)
    assert usage(group.name) == Usage(2.5, 1048576, None, 41, 2)
    assert control_groups("gh-some-") == {group.name}


@pytest.mark.parametrize("wrong", [{"cpus": -1}, {"cpus": 0.01}, {"memory_mib": 16}, {"pids": -5}])
def test_it_refuses_limits_that_make_no_sense(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        Limits(**wrong)
