"""Tried from inside real machines, with an internet that is a network namespace of this test."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from godhand_web.cli.processes import wait_until
from sandboxes import network
from sandboxes.backends.gvisor import VNC_PORT, GvisorSandbox, Options
from sandboxes.host import here
from sandboxes.ids import new_id
from sandboxes.images import store
from sandboxes.network import Policy
from sandboxes.snapshots import Snapshots

from . import fake_internet
from .test_isolation import gateway, host_reaches

GATE, PUBLIC, OTHER = "198.51.100.1", "198.51.100.2", "198.51.100.3"
PRIVATE, LISTED, METADATA = "10.77.0.1", "10.77.0.2", "169.254.169.254"
OUTSIDE = (PUBLIC, OTHER, PRIVATE, LISTED, METADATA)
RULE = "4213"
CONNECT = """
import json, socket, sys
from concurrent.futures import ThreadPoolExecutor
def reaches(place):
    try:
        socket.create_connection(place, 2).close()
    except OSError:
        return False
    return True
places = [tuple(place) for place in json.loads(sys.argv[1])]
with ThreadPoolExecutor(32) as pool:
    print(json.dumps([place for place, reached in zip(places, pool.map(reaches, places)) if reached]))
"""
LOOK_UP = "import socket, sys; print(socket.gethostbyname(sys.argv[1]))"


def reached(machine: GvisorSandbox, *places: tuple[str, int]) -> set[tuple[str, int]]:
    found = machine.exec(["python3", "-c", CONNECT, json.dumps(places)], timeout=30)
    return {(address, port) for address, port in json.loads(found.stdout)}


def looked_up(machine: GvisorSandbox, name: str) -> str:
    return machine.exec(["python3", "-c", LOOK_UP, name], timeout=30).stdout.decode().strip()


def run(*lines: str) -> None:
    for line in lines:
        subprocess.run(line.split(), check=True, capture_output=True)


@pytest.fixture(scope="module")
def internet() -> Iterator[None]:
    """Only what comes from machines is led to its private addresses; the host's own routes stay as they are."""
    space, link = f"fake-{os.getpid()}", f"fake{os.getpid()}"
    run(f"ip netns add {space}", f"ip link add {link} type veth peer name eth0 netns {space}")
    process = None
    try:
        run(
            f"ip addr add {GATE}/24 dev {link}",
            f"ip link set {link} up",
            *(f"ip -n {space} addr add {address}/24 dev eth0" for address in (PUBLIC, OTHER)),
            *(f"ip -n {space} addr add {address}/32 dev eth0" for address in OUTSIDE[2:]),
            f"ip -n {space} link set eth0 up",
            *(f"ip route add {address} via {PUBLIC} dev {link} table {RULE}" for address in OUTSIDE[2:]),
            f"ip rule add from {here().subnet} lookup {RULE} priority {RULE}",
        )
        Path(f"/proc/sys/net/ipv4/conf/{link}/forwarding").write_text("1")
        argv = [sys.executable, fake_internet.__file__, PUBLIC, OTHER, PRIVATE]
        process = subprocess.Popen(["ip", "netns", "exec", space, *argv])
        assert wait_until(lambda: answers(PUBLIC, 80), 10)
        yield
    finally:
        if process:
            process.terminate()
            process.wait(10)
        for line in (
            f"rule del priority {RULE}",
            f"route flush table {RULE}",
            f"link del {link}",
            f"netns del {space}",
        ):
            subprocess.run(["ip", *line.split()], check=False, capture_output=True)


def answers(address: str, port: int) -> bool:
    try:
        return host_reaches(address, port)
    except OSError:
        return False


@pytest.fixture(scope="module")
def names(internet: None) -> Iterator[None]:
    process = subprocess.Popen([sys.executable, "-m", "sandboxes.resolver", "--upstream", f"{PUBLIC}:53"])
    try:
        assert wait_until(lambda: answers(str(network.nameserver_address(here())), 53), 10)
        yield
    finally:
        process.terminate()
        process.wait(10)


@contextmanager
def started(policy: Policy) -> Iterator[GvisorSandbox]:
    sandbox = GvisorSandbox.create(new_id(), store.find("desktop"), Options(policy=policy))
    try:
        sandbox.start()
        yield sandbox
    finally:
        sandbox.destroy()


@pytest.fixture(scope="module")
def open_machine(names: None) -> Iterator[GvisorSandbox]:
    with started(Policy("open", (f"{LISTED}:80",))) as sandbox:
        yield sandbox


@pytest.fixture(scope="module")
def strict_machine(names: None) -> Iterator[GvisorSandbox]:
    with started(Policy("allowlist", ("listed.example:80", "rebind.example"))) as sandbox:
        yield sandbox


def test_it_reaches_nothing_when_off(machine: GvisorSandbox, names: None) -> None:
    assert reached(machine, *((address, 80) for address in OUTSIDE)) == set()
    assert looked_up(machine, "listed.example") == ""


def test_it_reaches_what_is_public_when_open(open_machine: GvisorSandbox) -> None:
    assert looked_up(open_machine, "other.example") == OTHER
    assert reached(open_machine, (PUBLIC, 80), (OTHER, 8080)) == {(PUBLIC, 80), (OTHER, 8080)}


def test_it_keeps_an_open_machine_away_from_private_places(open_machine: GvisorSandbox) -> None:
    tried = [(address, port) for address in (PRIVATE, LISTED, METADATA) for port in (80, 8080)]
    assert reached(open_machine, *tried) == {(LISTED, 80)}


def test_it_keeps_an_open_machine_away_from_host_and_machines(
    open_machine: GvisorSandbox, machine: GvisorSandbox
) -> None:
    own = gateway(open_machine)
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        assert host_reaches(own, port)
        places = [(own, port), (GATE, port), (gateway(machine), port), (machine.endpoint().host, VNC_PORT)]
        assert reached(open_machine, *places) == set()


def test_it_answers_questions_about_names_alone(open_machine: GvisorSandbox) -> None:
    assert reached(open_machine, (PUBLIC, 53), (PUBLIC, 80)) == {(PUBLIC, 80)}
    assert looked_up(open_machine, "private.example") == ""


def test_it_reaches_only_the_listed_name(strict_machine: GvisorSandbox) -> None:
    places = [(address, port) for address in OUTSIDE for port in (80, 8080)]
    assert reached(strict_machine, *places) == set()
    assert looked_up(strict_machine, "other.example") == ""
    assert looked_up(strict_machine, "sub.listed.example") == ""
    assert looked_up(strict_machine, "listed.example") == PUBLIC
    assert reached(strict_machine, *places) == {(PUBLIC, 80)}


def test_it_remembers_names_when_the_firewall_is_rebuilt(strict_machine: GvisorSandbox) -> None:
    assert looked_up(strict_machine, "listed.example") == PUBLIC
    network.ensure_firewall(here())
    assert reached(strict_machine, (PUBLIC, 80), (OTHER, 80)) == {(PUBLIC, 80)}


def test_it_refuses_a_name_that_turns_to_a_private_address(strict_machine: GvisorSandbox) -> None:
    assert looked_up(strict_machine, "rebind.example") == PUBLIC
    assert looked_up(strict_machine, "rebind.example") == ""
    assert reached(strict_machine, (PRIVATE, 80)) == set()


def test_it_hands_the_policy_but_no_remembered_name_to_a_fork(strict_machine: GvisorSandbox) -> None:
    child = GvisorSandbox.fork(strict_machine.snapshot("policy"), new_id())
    try:
        assert reached(child, (PUBLIC, 80), (OTHER, 80)) == set()
        assert looked_up(child, "listed.example") == PUBLIC
        assert reached(child, (PUBLIC, 80), (OTHER, 80)) == {(PUBLIC, 80)}
    finally:
        child.destroy()


def test_it_opens_a_fork_of_a_closed_machine(machine: GvisorSandbox, names: None) -> None:
    saved = machine.snapshot("closed")
    child = GvisorSandbox.fork(saved, new_id(), policy=Policy("allowlist", ("listed.example:80",)))
    try:
        assert looked_up(child, "listed.example") == PUBLIC
        assert reached(child, (PUBLIC, 80), (OTHER, 80)) == {(PUBLIC, 80)}
    finally:
        child.destroy()
        Snapshots(here()).delete(saved.id)


@pytest.mark.parametrize(
    ("mode", "allow"),
    [
        ("off", ("example.org",)),
        ("open", ("example.org",)),
        ("shut", ()),
        *(
            ("allowlist", (entry,))
            for entry in ("", "a b", "10.0.0.0/4", "x:0", "x:99999", "1.2.3.4/33", "::1", "x; drop")
        ),
    ],
)
def test_it_refuses_a_policy_that_makes_no_sense(mode: network.Mode, allow: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        Policy(mode, allow)
