"""Settings that cannot hold: each gets one sentence that names it."""

import os
import re
import socket
import subprocess
import sys
from itertools import islice
from types import ModuleType
from urllib.request import Request, urlopen

import pytest

from godhand_web.cli import down, status, system
from sandboxes.host import here
from sandboxes.network import nameserver_address
from sandboxes.resolver import IP_FREEBIND

from .running import Installation

SENSELESS = {
    "GODHAND_PORT": "many",
    "GODHAND_SUBNET": "10.0.0.0/31",
    "GODHAND_BIND": "banana",
    "GODHAND_URL": "desk.example.org",
    "GODHAND_ALLOWED_HOSTS": "https://desk.example.org",
    "GODHAND_GATE_URL": "desk.example.org:8801",
    "GODHAND_REDIS_URL": "localhost:6379",
    "GODHAND_LOG_LEVEL": "LOUD",
    "GODHAND_PYTHON": "/no where",
    "DATABASE_URL": "sqlite:///db.sqlite3",
}


@pytest.mark.parametrize(("name", "value"), SENSELESS.items())
def test_it_refuses_a_setting_that_makes_no_sense(installation: Installation, name: str, value: str) -> None:
    installation.extra = {name: value}
    refused = installation.call("up")
    assert refused.returncode == 1
    assert f"{name} is “{value}”" in refused.stderr


def test_it_refuses_one_port_for_two(installation: Installation) -> None:
    installation.extra = {"GODHAND_GATE_PORT": str(installation.port)}
    refused, seen = installation.call("up"), installation.call("doctor")
    for told, text in ((refused, refused.stderr), (seen, seen.stdout)):
        assert told.returncode == 1
        assert f"GODHAND_PORT and GODHAND_GATE_PORT are both {installation.port}" in text


def test_it_tells_of_a_setting_that_is_none(installation: Installation) -> None:
    installation.extra = {"GODHAND_PROT": "9000", "GODHAND_GATE_PORT": str(installation.port)}
    for command in ("up", "doctor"):
        assert "GODHAND_PROT is no setting: did you mean GODHAND_PORT?" in installation.call(command).stdout


def test_it_refuses_a_program_that_is_not_runsc(installation: Installation) -> None:
    installation.extra = {"GODHAND_RUNSC": "/bin/true"}
    refused, seen = installation.call("up"), installation.call("doctor")
    for told, text in ((refused, refused.stderr), (seen, seen.stdout)):
        assert told.returncode == 1
        assert "/bin/true is not gVisor's runsc" in text


def test_it_leaves_a_home_to_whoever_uses_it(installation: Installation) -> None:
    own = installation.home / "own"
    own.mkdir()
    os.chown(own, 65534, 65534)
    refused = installation.call("up")
    assert refused.returncode == 1
    assert f"GODHAND_HOME is {installation.home}, which nobody uses" in refused.stderr
    assert [path.name for path in installation.home.iterdir()] == ["own"]
    assert own.stat().st_uid == 65534


@pytest.mark.parametrize("damage", ["garbage", "closed"])
def test_it_says_what_to_do_about_a_database_that_cannot_be_used(installation: Installation, damage: str) -> None:
    file = installation.home / "db" / "godhand.sqlite3"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"no database" * 1000 if damage == "garbage" else b"")
    file.chmod(0o666 if damage == "garbage" else 0)
    refused = installation.call("up")
    assert refused.returncode == 1
    assert re.search(rf"the database cannot be used \(.+\): mend {file}, put a copy", refused.stderr)
    assert "Traceback" not in refused.stderr


def test_it_says_what_to_do_about_a_database_that_is_not_there(installation: Installation) -> None:
    installation.extra = {"DATABASE_URL": "postgres://x:s3cret@127.0.0.1:1/y"}
    refused = installation.call("up")
    assert refused.returncode == 1
    assert "start what DATABASE_URL names, or correct it" in refused.stderr
    assert "s3cret" not in refused.stderr


def test_it_says_what_to_do_about_a_redis_that_cannot_read_its_files(installation: Installation) -> None:
    manifest = installation.home / "redis" / "appendonlydir" / "appendonly.aof.manifest"
    manifest.parent.mkdir(parents=True)
    manifest.write_text("nonsense\n")
    refused = installation.call("up")
    assert refused.returncode == 1
    assert f"move {installation.home}/redis away" in refused.stderr


def test_it_says_that_a_shell_has_no_machine_yet_and_leaves_nothing_of_root(installation: Installation) -> None:
    refused = installation.call("shell")
    assert refused.returncode == 1
    assert refused.stderr.startswith("There are no machines here")
    assert not (installation.home / "db").exists() or list((installation.home / "db").iterdir()) == []


def test_it_says_that_an_address_is_not_of_this_host(installation: Installation) -> None:
    installation.extra = {"GODHAND_BIND": "192.0.2.254"}
    refused, seen = installation.call("up"), installation.call("doctor")
    assert refused.returncode == seen.returncode == 1
    assert "set GODHAND_BIND" in refused.stderr
    assert "set GODHAND_BIND" in seen.stdout


def low_ports() -> list[str]:
    free = (port for port in range(1023, 600, -1) if not system.port_trouble("127.0.0.2", port, ""))
    return [str(port) for port in islice(free, 2)]


def test_it_can_be_called_by_the_address_it_is_bound_to_and_by_its_public_name(installation: Installation) -> None:
    """On ports that ordinary users may not have, too, and on a host that reaches others through a proxy."""
    web, gate = low_ports()
    ports = {"GODHAND_PORT": web, "GODHAND_GATE_PORT": gate}
    proxy = {"http_proxy": "http://127.0.0.1:9", "no_proxy": ""}
    installation.extra = {**ports, **proxy, "GODHAND_BIND": "127.0.0.2", "GODHAND_URL": "https://desk.example.org/"}
    installation.up().wait_for(r"https://desk\.example\.org/login/link/")
    for host in ("127.0.0.2", "desk.example.org"):
        with urlopen(Request(f"http://127.0.0.2:{web}/healthz", headers={"Host": host}), timeout=30) as answer:
            assert answer.status == 200


def test_it_says_who_stands_in_the_way_of_the_name_server(installation: Installation) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as another:
        another.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
        another.bind((str(nameserver_address(installation.host)), 53))
        up = installation.up()
        assert up.wait_for_end(120) == 1
    assert re.search("GodHand stops: “resolver” .*: The name server of machines cannot use ", "".join(up.lines))


def test_it_says_which_port_the_gate_cannot_have(installation: Installation) -> None:
    with socket.create_server(("127.0.0.1", installation.gate_port)):
        argv = [sys.executable, "-m", "godhand_web.gate"]
        gate = subprocess.run(argv, env=installation.environment, capture_output=True, text=True, check=False)
    assert gate.returncode == 1
    assert gate.stderr.startswith(f"The gate cannot listen on 127.0.0.1:{installation.gate_port} ")


@pytest.mark.parametrize("command", [status, down])
def test_it_does_not_call_dead_what_one_may_not_see(command: ModuleType) -> None:
    here().own.chmod(0o700)
    os.seteuid(65534)
    try:
        with pytest.raises(SystemExit, match=r"You may not look into .*/own: run \./godhand (status|down) as root"):
            command.main([])
    finally:
        os.seteuid(0)
        here().own.chmod(0o755)


def test_it_refuses_a_home_that_is_a_file_or_too_deep(installation: Installation) -> None:
    """Sockets have short names."""
    file, deep = installation.home / "file", installation.home / ("deep" * 25)
    file.touch()
    for home, reason in ((file, "cannot be used (File exists)"), (deep, "too long for the socket of Redis")):
        installation.extra = {"GODHAND_HOME": str(home)}
        refused = installation.call("up")
        assert refused.returncode == 1
        assert f"GODHAND_HOME is {home}, " in refused.stderr
        assert reason in refused.stderr
        assert "Traceback" not in refused.stderr


def test_it_says_what_to_do_about_a_place_for_images_that_is_a_file(installation: Installation) -> None:
    file = installation.home / "images"
    file.touch()
    installation.extra = {"GODHAND_IMAGES": str(file)}
    refused = installation.call("image", "build", "desktop")
    assert refused.returncode == 1
    assert f"Images are kept in {file}; GODHAND_IMAGES chooses another directory." in refused.stderr
    assert "Traceback" not in refused.stderr
