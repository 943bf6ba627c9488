"""A live fork: how long the parent stands still, when a child shows its first frame, and that nothing is lost.

The pause is the longest gap that a ticker inside the parent saw. A child is ready when its first whole frame is here,
for which a fork waits. Where a Docker engine answers, `docker commit` and `docker run` of the same root filesystem are
the peer; they keep the disk only.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.host import here
from sandboxes.ids import new_id
from sandboxes.images import store
from sandboxes.snapshots import SnapshotRef, Snapshots

from . import desk, docker
from .machine import fresh_machine
from .stats import p50, p95, positive, report

Figures = dict[str, list[float]]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench fork", description=__doc__)
    parser.add_argument("--n", type=positive, default=8, help="forks of each desktop")
    parser.add_argument("--json", action="store_true", help="nothing but the last line")
    options = parser.parse_args(argv)
    with fresh_machine("desktop") as machine:
        desk.open_editor(machine)
        editor = measure(machine, options.n)
        desk.start_shell_job(machine)
        desk.open_counter(machine)
        whole = measure(machine, options.n)
        four, size = four_children(machine)
    results: dict[str, float | int] = {
        "pause_ms_p50": p50(whole["pause"]),
        "pause_ms_p95": p95(whole["pause"]),
        "child_ready_ms_p50": p50(whole["ready"]),
        "child_ready_ms_p95": p95(whole["ready"]),
        "snapshot_ms_p50": p50(whole["snapshot"]),
        "children4_ready_ms": four,
        "child_bytes": int(p50(whole["bytes"])),
        "snapshot_bytes": size,
        "editor_pause_ms_p50": p50(editor["pause"]),
        "editor_child_ready_ms_p50": p50(editor["ready"]),
        **docker.commit_run_figure(store.find("desktop").root, options.n),
        "n": options.n,
    }
    if not options.json:
        print("children went on counting, kept the unsaved text and the job, and diverged", file=sys.stderr)
    report(results)
    return 0


def measure(parent: GvisorSandbox, n: int) -> Figures:
    figures: Figures = {"pause": [], "ready": [], "snapshot": [], "bytes": []}
    desk.start_ticker(parent)
    desk.still(parent, 0.3)
    for _ in range(n):
        desk.longest_gap(parent)
        began = time.perf_counter()
        with snapshot(parent) as ref:
            figures["snapshot"].append((time.perf_counter() - began) * 1000)
            child, ready = fork(ref)
        try:
            figures["ready"].append(ready)
            figures["pause"].append(desk.longest_gap(parent))
            figures["bytes"].append(resident(child))
            check(parent, child)
        finally:
            child.destroy()
    return figures


@contextmanager
def snapshot(parent: GvisorSandbox) -> Iterator[SnapshotRef]:
    ref = parent.snapshot("bench")
    try:
        yield ref
    finally:
        Snapshots(here()).delete(ref.id)


def fork(ref: SnapshotRef, name: str = "") -> tuple[GvisorSandbox, float]:
    began = time.perf_counter()
    child = GvisorSandbox.fork(ref, name or new_id())
    ready = (time.perf_counter() - began) * 1000
    expect("its screen", child.first_frame is not None and not child.first_frame.blank)
    return child, ready


def check(parent: GvisorSandbox, child: GvisorSandbox) -> None:
    """Ends the benchmark when a child is not a true continuation of its own."""
    expect("the unsaved text", desk.UNSAVED in desk.unsaved_text(child))
    child.write_file("/tmp/child-only", b"")
    expect("a disk of its own", parent.exec(["test", "-e", "/tmp/child-only"]).returncode == 1)
    if desk.counter(parent):
        seen = desk.counter(child)
        desk.until("the child's page goes on counting", lambda: desk.counter(child) > seen)
        before = desk.job(child)
        desk.until("the child's job goes on", lambda: desk.job(child) > before)
        expect("the shell", desk.shell_state(child) == "42 /var/tmp 1")


def expect(what: str, held: bool) -> None:
    if not held:
        raise SystemExit(f"The child has lost {what}.")


def four_children(parent: GvisorSandbox) -> tuple[float, int]:
    names = [new_id() for _ in range(4)]
    try:
        with snapshot(parent) as ref, ThreadPoolExecutor(4) as pool:
            began = time.perf_counter()
            list(pool.map(lambda name: fork(ref, name), names))
            return (time.perf_counter() - began) * 1000, ref.size
    finally:
        for name in names:
            GvisorSandbox.attach({"id": name}).destroy()


def resident(machine: GvisorSandbox) -> float:
    """Proportional share of the memory of the machine's host processes, in bytes."""
    total = 0
    for pid in machine.runsc.processes(machine.container):
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        total += next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:"))
    return float(total * 1024)


if __name__ == "__main__":
    sys.exit(main())
