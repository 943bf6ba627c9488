"""Tried from inside a real machine, and from the host as somebody who has no business there."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from sandboxes import network
from sandboxes.backends.gvisor import VNC_PORT, GvisorSandbox, Options
from sandboxes.host import Host, here
from sandboxes.ids import new_id
from sandboxes.images import store
from sandboxes.network import pins

CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], int(sys.argv[2])), 2)"


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


def test_it_shows_the_machine_its_own_kernel_only(machine: GvisorSandbox) -> None:
    assert b"gVisor" in machine.exec(["dmesg"], user="root").stdout


def test_it_leaves_nobody_inside_the_right_to_mount(machine: GvisorSandbox) -> None:
    as_root = machine.exec(["sudo", "mount", "-t", "tmpfs", "none", "/mnt"])
    assert as_root.returncode != 0
    bounds = machine.exec(["sh", "-c", "grep -h CapBnd /proc/[0-9]*/status"]).stdout.split()[1::2]
    assert len(bounds) > 5
    assert not any(int(bound, 16) >> 21 & 1 for bound in bounds)
