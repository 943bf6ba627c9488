"""Tried from inside a real machine, and from the host as somebody who has no business there."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sandboxes import network
from sandboxes.backends.gvisor import VNC_PORT, GvisorSandbox, Options
from sandboxes.host import Host, here
from sandboxes.ids import new_id
from sandboxes.images import store
from sandboxes.network import links, pins
from sandboxes.network.forwarding import OPENED
from sandboxes.runsc import binary
from sandboxes.snapshots import Snapshots

ROOT = Path(__file__).parents[2]
CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)"

TWO_INSTALLATIONS = """
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from sandboxes.host import here
from sandboxes.ids import new_id
from sandboxes.network import Policy, ensure_firewall, records, remove_firewall
Path("/proc/sys/net/ipv4/ip_forward").write_text("0")
switch = Path(f"/proc/sys/net/ipv4/conf/{sys.argv[1]}/forwarding")
switch.write_text(sys.argv[2])
first, second = (replace(here(), home=here().home / new_id()) for _ in range(2))
machine = new_id()
for host in (first, second):
    records.write(host, records.Record(machine, "10.213.0.0", "10.213.0.1", Policy("open")))
    ensure_firewall(host)
route = ["ip", "route", "del", "default"], ["ip", "route", "add", "default", "dev", sys.argv[1]]
subprocess.run(route[0], check=True)
ensure_firewall(first)
ensure_firewall(second)
both = switch.read_text()
subprocess.run(route[1], check=True)
remove_firewall(first)
one = switch.read_text()
records.remove(second, machine)
ensure_firewall(second)
print(both, one, switch.read_text())
"""


def reaches(machine: GvisorSandbox, address: str, port: int) -> bool:
    return machine.exec(["python3", "-c", CONNECT, address, str(port)], timeout=20).returncode == 0


def host_reaches(address: str, port: int) -> bool:
    with socket.create_connection((address, port), 2):
        return True


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("0.0.0.0", 0)) as server:
        yield server


def gateway(machine: GvisorSandbox) -> str:
    octets = machine.endpoint().host.split(".")
    return ".".join([*octets[:3], str(int(octets[3]) - 1)])


def test_it_keeps_a_machine_away_from_its_host(machine: GvisorSandbox, listening: socket.socket) -> None:
    port = listening.getsockname()[1]
    assert host_reaches(gateway(machine), port)
    assert not reaches(machine, gateway(machine), port)


@pytest.mark.parametrize(("before", "seen"), [("0", "1 1 0"), ("1", "1 1 1")])
def test_it_forwards_for_as_long_as_a_machine_needs_it(before: str, seen: str) -> None:
    """In a network namespace in place of the host, whose way out has a name of its own."""
    way = f"up{os.getpid()}"
    build = 'ip link add "$0" type veth peer name back && ip link set "$0" up && ip route add default dev "$0"'
    argv = [sys.executable, "-c", TWO_INSTALLATIONS, way, before]
    inside = ["unshare", "--net", "--mount", "sh", "-c", f'{build} && exec "$@"', way, *argv]
    told = subprocess.run(inside, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.stdout.split() == seen.split(), told.stderr
    assert not (OPENED / way).exists()


def test_it_keeps_machines_away_from_each_other(machine: GvisorSandbox) -> None:
    other = GvisorSandbox.create(new_id(), store.find("desktop"), Options())
    try:
        other.start()
        assert not reaches(machine, other.endpoint().host, VNC_PORT)
        assert not reaches(machine, gateway(other), VNC_PORT)
    finally:
        other.destroy()


def test_it_gives_a_machine_no_way_out(machine: GvisorSandbox) -> None:
    assert not reaches(machine, "192.0.2.1", 80)
    assert not reaches(machine, "169.254.169.254", 80)


def test_it_keeps_other_people_of_the_host_away_from_a_machine(machine: GvisorSandbox) -> None:
    address = machine.endpoint().host
    stranger = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", os.path.realpath(sys.executable)]
    refused = subprocess.run([*stranger, "-c", CONNECT, address, str(VNC_PORT)], capture_output=True, check=False)
    assert refused.returncode != 0
    assert b"imed out" in refused.stderr
    assert host_reaches(address, VNC_PORT)


@pytest.mark.parametrize("ensure", [network.ensure_firewall, network.ensure_closed])
@pytest.mark.parametrize("harm", ["delete", "flush"])
def test_it_heals_a_firewall_that_somebody_broke(
    machine: GvisorSandbox, listening: socket.socket, harm: str, ensure: Callable[[Host], None]
) -> None:
    subprocess.run(["nft", harm, "table", *pins.table(here()).split()], check=True)
    assert reaches(machine, gateway(machine), listening.getsockname()[1])
    ensure(here())
    assert not reaches(machine, gateway(machine), listening.getsockname()[1])


@pytest.fixture(scope="module", params=["machine", "fork"])
def place(request: pytest.FixtureRequest, machine: GvisorSandbox) -> Iterator[GvisorSandbox]:
    if request.param == "machine":
        yield machine
        return
    saved = machine.snapshot("isolation")
    child = GvisorSandbox.fork(saved, new_id())
    try:
        yield child
    finally:
        child.destroy()
        Snapshots(here()).delete(saved.id)


def of_the_host(image: Path) -> dict[str, object]:
    """What must be the same before and after."""
    programs = [*image.glob("usr/bin/python3*"), Path(binary(here()))]
    told = {name: Path(f"/proc/sys/kernel/{name}").read_text() for name in ("hostname", "core_pattern")}
    return {**told, **{str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in programs}}


def test_it_lets_nobody_out(place: GvisorSandbox) -> None:
    """Root inside tries what is known; the host has a file, a socket and a process that nobody inside may see."""
    word, image = f"canary-{new_id()}", Path(place.handle["image_root"])
    before = of_the_host(image)
    with (
        tempfile.NamedTemporaryFile(prefix=word, dir=here().home) as canary,
        socket.socket(socket.AF_UNIX) as door,
        subprocess.Popen(["sleep", "600"], env={"CANARY": word}) as bystander,
    ):
        try:
            door.bind(f"\0{word}")
            door.listen()
            script = (Path(__file__).parent / "probes.py").read_bytes()
            secret = [each[::-1] for each in (canary.name, word, word, str(here().home))]
            said = place.exec(["python3", "-", *secret], stdin=script, user="root", timeout=120)
            found = json.loads(said.stdout or said.stderr)
            assert {name: got for name, got in found.items() if got.startswith("reached")} == {}
            assert len(found) > 60
            assert canary.read() == b""
            assert bystander.poll() is None
        finally:
            bystander.kill()
    assert of_the_host(image) == before


def test_it_shows_the_machine_its_own_kernel_only(machine: GvisorSandbox) -> None:
    assert b"gVisor" in machine.exec(["dmesg"], user="root").stdout


def test_it_leaves_nobody_inside_the_right_to_mount(machine: GvisorSandbox) -> None:
    as_root = machine.exec(["sudo", "mount", "-t", "tmpfs", "none", "/mnt"])
    assert as_root.returncode != 0
    bounds = machine.exec(["sh", "-c", "grep -h CapBnd /proc/[0-9]*/status"]).stdout.split()[1::2]
    assert len(bounds) > 5
    assert not any(int(bound, 16) >> 21 & 1 for bound in bounds)


def test_it_connects_on_a_host_that_keeps_no_folder_for_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "ADDRESS_LOCK", tmp_path / "lock" / "addresses")
    machine_id = new_id()
    try:
        network.connect(here(), machine_id)
        assert machine_id in network.owned_ids(here())
    finally:
        network.disconnect(here(), machine_id)
    assert machine_id not in network.owned_ids(here())
