"""What a machine may use of its host, how its kernel and the host's are told, and what it uses right now.

The host's control group holds all processes of a machine, so whatever happens inside, no more than this is taken.
Limits inside come first where gVisor has them: a fork bomb meets its user's, a huge file its own.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

CGROUPS = Path("/sys/fs/cgroup")
CPU_PERIOD = 100_000
SHARES = 1024
FIRST = 64
MIB = 1 << 20


@dataclass(frozen=True)
class Limits:
    """Zero is no limit; of minutes, it is the installation's. Memory also holds all that was changed on the disk."""

    cpus: float = 2
    memory_mib: int = 4096
    pids: int = 1024
    disk_mib: int = 2048
    wall_minutes: int = 0
    idle_minutes: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 0:
                raise ValueError(f"The limit “{field.name}” must not be negative.")
        if 0 < self.cpus < 0.1:
            raise ValueError("Less than a tenth of a processor cannot run a desktop.")
        if 0 < self.memory_mib < 256:
            raise ValueError("Less than 256 MiB of memory cannot hold a desktop.")

    def of_fork(self, parent: "Limits") -> "Limits":
        """Processes and disk are limited inside, from the boot on: a fork has those of its parent."""
        return replace(self, pids=parent.pids, disk_mib=parent.disk_mib)


@dataclass(frozen=True)
class Usage:
    """`memory_limit` and `pids` are the host's view; a machine without a memory limit has None."""

    cpu_seconds: float
    memory_bytes: int
    memory_limit: int | None
    pids: int
    oom_kills: int


def resources(limits: Limits) -> dict[str, Any]:
    """`linux.resources` of the bundle: for the host's control group. It begins first in line."""
    found: dict[str, Any] = {"cpu": {"shares": SHARES * FIRST}}
    if limits.cpus:
        found["cpu"] |= {"period": CPU_PERIOD, "quota": int(limits.cpus * CPU_PERIOD)}
    if limits.memory_mib:
        found["memory"] = {"limit": limits.memory_mib * MIB}
        if _counts_swap():
            found["memory"]["swap"] = limits.memory_mib * MIB
    if limits.pids:
        # One host thread per guest thread, and those of gVisor's own kernel. Reaching this one ends the machine.
        found["pids"] = {"limit": 2 * limits.pids + 512}
    return found


def rlimits(limits: Limits) -> list[dict[str, Any]]:
    """`process.rlimits` of the bundle: inherited by everything inside, and nobody there has the right to raise them."""
    values = {"RLIMIT_NPROC": limits.pids, "RLIMIT_FSIZE": limits.disk_mib * MIB}
    return [{"type": kind, "soft": value, "hard": value} for kind, value in values.items() if value]


def tmpfs_sizes(limits: Limits) -> dict[str, str]:
    """`size=` of the mounts that live in memory. gVisor's own default is half of the host's memory for each."""
    half = limits.memory_mib // 2 or 1024
    sizes = {"/dev": 16, "/dev/shm": min(1024, half), "/run": 256, "/tmp": limits.disk_mib or half}
    return {path: f"size={mib}m" for path, mib in sizes.items()}


def set_weight(container: str, times: int) -> None:
    """Its share of the processors, as times that of others. Raises OSError when it is not there."""
    if unified():
        (CGROUPS / container / "cpu.weight").write_text(str(100 * times))
    else:
        (CGROUPS / "cpu" / container / "cpu.shares").write_text(str(SHARES * times))


def usage(container: str) -> Usage | None:
    """None when the machine has no control group: never started, or destroyed."""
    with suppress(OSError, ValueError):
        if unified():
            return _usage_v2(CGROUPS / container)
        return _usage_v1(container)
    return None


def control_groups(prefix: str) -> set[str]:
    """Names of machines' control groups that are still on this host."""
    return {path.name for root in _roots() for path in root.glob(f"{prefix}*") if path.is_dir()}


def remove_control_groups(container: str) -> None:
    """Those with living processes stay: their turn comes when the machine is stopped."""
    for root in _roots():
        with suppress(OSError):
            (root / container).rmdir()


def unified() -> bool:
    return (CGROUPS / "cgroup.controllers").exists()


def _roots() -> Iterator[Path]:
    if unified():
        yield CGROUPS
    else:
        yield from (path.parent for path in CGROUPS.glob("*/cgroup.procs"))


def _counts_swap() -> bool:
    """A kernel may leave it out, and then runsc fails at being told."""
    if unified():
        return any(CGROUPS.glob("*/memory.swap.max"))
    return (CGROUPS / "memory/memory.memsw.limit_in_bytes").exists()


def _usage_v1(container: str) -> Usage:
    memory = CGROUPS / "memory" / container
    limit = _number(memory / "memory.limit_in_bytes")
    return Usage(
        cpu_seconds=_number(CGROUPS / "cpuacct" / container / "cpuacct.usage") / 1e9,
        memory_bytes=_number(memory / "memory.usage_in_bytes"),
        memory_limit=limit if limit < 1 << 60 else None,
        pids=_number(CGROUPS / "pids" / container / "pids.current"),
        oom_kills=_table(memory / "memory.oom_control").get("oom_kill", 0),
    )


def _usage_v2(group: Path) -> Usage:
    limit = (group / "memory.max").read_text().strip()
    return Usage(
        cpu_seconds=_table(group / "cpu.stat")["usage_usec"] / 1e6,
        memory_bytes=_number(group / "memory.current"),
        memory_limit=None if limit == "max" else int(limit),
        pids=_number(group / "pids.current"),
        oom_kills=_table(group / "memory.events").get("oom_kill", 0),
    )


def _number(path: Path) -> int:
    return int(path.read_text())


def _table(path: Path) -> dict[str, int]:
    return {name: int(value) for name, value in map(str.split, path.read_text().splitlines())}
