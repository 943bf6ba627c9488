"""What an installation does to be seen, and what it has left on its host."""

import os
import socket
import subprocess
from pathlib import Path
from urllib.request import urlopen

from bench.density import on_host
from sandboxes import network
from sandboxes.limits import control_groups
from sandboxes.runsc import Runsc

from .running import Installation

NOBODY = "--reuid=65534 --regid=65534 --clear-groups"


def ready(installation: Installation) -> bool:
    try:
        with urlopen(f"{installation.url}/readyz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def listens(address: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((address, port)) == 0


def makes_a_machine(installation: Installation) -> str:
    made = installation.call("manage", "makemachine")
    assert made.returncode == 0, made.stderr
    return made.stdout.strip()


def nothing_is_left(installation: Installation) -> bool:
    host = installation.host
    tables = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True, check=True).stdout
    mine = [path for path in Path("/proc").glob("[0-9]*/cmdline") if os.fsencode(host.home) in read(path)]
    assert list(network.owned_ids(host)) == []
    assert Runsc(host).containers() == []
    assert [path.name for path in host.machines.iterdir() if path.name != ".runsc"] == []
    assert f"godhand_{host.instance}" not in tables
    assert mine == []
    assert control_groups(network.namespace_name(host, "")) == set()
    assert on_host(host)["mounts"] == on_host(host)["links"] == set()
    addresses = subprocess.run(["ip", "-4", "addr", "show", "dev", "lo"], capture_output=True, text=True, check=True)
    assert str(network.nameserver_address(host)) not in addresses.stdout
    return True


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
