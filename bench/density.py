"""Many live desktops at once, each answering a screenshot; afterwards, what is left of them on the host."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from sandboxes import network, templates
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.errors import SandboxError
from sandboxes.host import Host, here
from sandboxes.ids import new_id
from sandboxes.images import store
from sandboxes.limits import control_groups
from sandboxes.network.firewall import group
from sandboxes.snapshots import SnapshotRef

from .fork import resident
from .stats import milliseconds, p50, p95, positive, report

IMAGE = "desktop"
AT_ONCE = 4


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="bench density", description=__doc__)
    parser.add_argument("--n", type=positive, default=100, help="desktops at once")
    parser.add_argument("--json", action="store_true", help="nothing but the last line")
    options = parser.parse_args(argv)
    template = templates.ensure(GvisorSandbox, store.find(IMAGE))
    if template is None:
        raise SandboxError("gVisor machines have no template.")
    before = on_host()
    with desktops(template, options.n, says=not options.json) as machines:
        shots = [milliseconds(partial(shoot, machine)) for machine in machines]
        memory = sum(resident(machine) for machine in machines) / len(machines)
    leaked = {name: sorted(now - before[name]) for name, now in on_host().items()}
    report(
        {
            "desktops": len(shots),
            "mb_per_desktop": memory / 2**20,
            "screenshot_ms_p50": p50(shots),
            "screenshot_ms_p95": p95(shots),
            "leaked": sum(map(len, leaked.values())),
        }
    )
    return int(any(leaked.values()))


@contextmanager
def desktops(template: SnapshotRef, n: int, *, says: bool = False) -> Iterator[list[GvisorSandbox]]:
    """Whatever happens, none of them is left: those that were made beside one that failed are known by name."""
    names, machines = [new_id() for _ in range(n)], []
    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for machine in pool.map(partial(GvisorSandbox.fork, template), names):
                machines.append(machine)
                if says and len(machines) % 10 == 0:
                    print(f"{len(machines)} desktops", file=sys.stderr, flush=True)
        yield machines
    finally:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(lambda name: GvisorSandbox.attach({"id": name}).destroy(), names))


def shoot(machine: GvisorSandbox) -> None:
    """A connection of its own, a whole frame, an encoded picture."""
    with machine.desktop() as desktop:
        picture = desktop.screenshot().encode("jpeg")
    if len(picture) < 5000:
        raise SystemExit(f"Machine {machine.id} shows nothing.")


def on_host(host: Host | None = None) -> dict[str, set[str]]:
    """Everything that the machines of an installation add to their host; of this one, if none is named."""
    host = host or here()
    named, ours = network.namespace_name(host, ""), str(group(host)).encode()
    mounts = {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}
    links = [path for path in Path("/sys/class/net").glob("*/netdev_group") if _read(path).strip() == ours]
    processes = [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(host.machines).encode() in _read(path)]
    return {
        "namespaces": set(network.owned_ids(host)),
        "groups": control_groups(named),
        "links": {path.parent.name for path in links},
        "mounts": {mount for mount in mounts if named in mount},
        "processes": {path.parent.name for path in processes},
        "files": {path.name for path in host.machines.rglob("*")},
    }


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


if __name__ == "__main__":
    sys.exit(main())
