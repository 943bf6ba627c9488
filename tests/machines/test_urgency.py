"""A machine that is waited for comes first; one that is not costs little."""

from pathlib import Path

from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.limits import CGROUPS, FIRST, SHARES, unified
from sandboxes.urgency import LAZY_NS, SHARP_NS, urgent


def timer_slacks(machine: GvisorSandbox) -> set[int]:
    threads = Path(f"/proc/{machine.handle['pid']}/task").iterdir()
    return {int(Path(f"/proc/{thread.name}/timerslack_ns").read_text()) for thread in threads}


def share(machine: GvisorSandbox) -> float:
    if unified():
        return int((CGROUPS / machine.container / "cpu.weight").read_text()) / 100
    return int((CGROUPS / "cpu" / machine.container / "cpu.shares").read_text()) / SHARES


def test_it_leaves_a_started_machine_with_lazy_timers_and_one_share(machine: GvisorSandbox) -> None:
    assert timer_slacks(machine) == {LAZY_NS}
    assert share(machine) == 1


def test_it_is_sharp_and_first_while_somebody_waits(machine: GvisorSandbox) -> None:
    with urgent(machine.container, machine.handle["pid"]):
        assert timer_slacks(machine) == {SHARP_NS}
        assert share(machine) == FIRST
    assert timer_slacks(machine) == {LAZY_NS}


def test_it_does_not_mind_a_machine_that_has_gone() -> None:
    with urgent("gh-none-nothing", 2**22 + 1):
        pass
