"""However it ends, nothing is left that the next command does not clean."""

import os
import re
import signal
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from godhand_web.cli.processes import is_same, wait_until
from sandboxes import network
from sandboxes.ids import new_id
from sandboxes.runsc import Runsc

from .aftermath import makes_a_machine, nothing_is_left
from .running import GODHAND, Installation


def left_by_a_killed_up(installation: Installation) -> str:
    """A machine. The services have ended with it."""
    up = installation.up()
    up.wait_for_link()
    machine = makes_a_machine(installation)
    services = installation.services()
    up.stop(signal.SIGKILL)
    assert wait_until(lambda: not any(is_same(*each) for each in services.values()), 20)
    return machine


def test_it_heals_when_up_itself_was_killed_and_leaves_nothing_after_ctrl_c(installation: Installation) -> None:
    """Services end, machines with a row are adopted, and one that no row claims is removed."""
    first = left_by_a_killed_up(installation)
    network.connect(installation.host, "0rphan0rphan")
    again = installation.up()
    again.wait_for_link()
    assert list(network.owned_ids(installation.host)) == [first]
    assert Runsc(installation.host).alive(network.namespace_name(installation.host, first))
    assert makes_a_machine(installation) in set(network.owned_ids(installation.host))
    assert again.stop() == 0
    assert nothing_is_left(installation)


def test_it_leaves_nothing_also_when_nobody_hears_it_any_more(installation: Installation) -> None:
    """`nohup` protects it from the end of its terminal, and a reader that is gone from nothing."""
    argv = ["nohup", GODHAND, "up"]
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(argv, env=installation.environment, text=True, **pipes) as up:  # type: ignore[call-overload]
        try:
            assert any("/login/link/" in line for line in up.stdout)
            up.send_signal(signal.SIGHUP)
            makes_a_machine(installation)
            assert installation.call("status").returncode == 0
            up.stdout.close()
            up.send_signal(signal.SIGINT)
            assert up.wait(90) == 0
        finally:
            up.kill()
    assert nothing_is_left(installation)


def test_it_still_knows_what_a_killed_up_left_when_the_next_is_refused(installation: Installation) -> None:
    machine = left_by_a_killed_up(installation)
    with socket.create_server(("127.0.0.1", installation.port)):
        assert f"Port {installation.port}" in installation.call("up").stderr
    assert list(network.owned_ids(installation.host)) == [machine]
    assert installation.call("down").returncode == 0
    assert nothing_is_left(installation)
    assert "does not run" in installation.call("down").stdout


def test_it_removes_machines_also_when_their_database_is_lost(installation: Installation) -> None:
    left_by_a_killed_up(installation)
    for file in (installation.home / "db").iterdir():
        file.unlink()
    down = installation.call("down")
    assert (down.returncode, "without the database" in down.stdout) == (0, True), down.stdout + down.stderr
    assert nothing_is_left(installation)
    assert list((installation.home / "db").iterdir()) == []


def test_it_leaves_what_a_killed_up_left_to_the_next_when_it_gives_up_before_it_serves(
    installation: Installation,
) -> None:
    installation.extra = {"GODHAND_REDIS_URL": f"unix://{installation.home}/nowhere.sock"}
    machine = new_id()
    network.connect(installation.host, machine)
    network.ensure_firewall(installation.host)
    refused = installation.call("up")
    assert refused.returncode == 1
    assert "does not answer" in refused.stderr
    assert "./godhand down removes them" in refused.stdout
    assert list(network.owned_ids(installation.host)) == [machine]
    assert installation.call("down").returncode == 0
    assert nothing_is_left(installation)


def test_it_is_ended_also_while_its_record_is_lost(installation: Installation) -> None:
    """Nor does anybody write it again: `up` stands still."""
    up = installation.up()
    up.wait_for_link()
    os.kill(up.process.pid, signal.SIGSTOP)
    (installation.home / "own" / "up.json").unlink()
    with ThreadPoolExecutor() as pool:
        down = pool.submit(installation.call, "down")
        assert wait_until(lambda: is_pending(up.process.pid, signal.SIGTERM), 30)
        os.kill(up.process.pid, signal.SIGCONT)
        assert "stopping GodHand" in down.result().stdout
    assert up.process.wait(60) == 0
    assert nothing_is_left(installation)


def test_it_removes_machines_of_which_nothing_was_written_down(installation: Installation) -> None:
    machine = new_id()
    network.connect(installation.host, machine)
    down = installation.call("down")
    assert down.returncode == 0, down.stderr
    assert list(network.owned_ids(installation.host)) == []


def is_pending(pid: int, number: signal.Signals) -> bool:
    masks = re.findall(r"^(?:SigPnd|ShdPnd):\s*(\w+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return any(int(mask, 16) >> (number - 1) & 1 for mask in masks)
