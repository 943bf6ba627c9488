"""Process 1, run as such in namespaces of its own, with an /etc and an /opt that are copies."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from sandboxes.guest import client

from .conftest import DAEMON, UID
from .waiting import eventually

PYTHON = Path(sys.executable).resolve()
"""Not the link to it, which may lie in /tmp."""
INIT = Path(client.__file__).with_name("init.py")
WORLD = """
for place in etc opt run var/log tmp; do mount --bind "$1/$place" "/$place"; done
mount -t proc proc /proc
exec "$2" -IS /opt/godhand/init
"""

SLOW = "echo up; until [ -e /tmp/go ]; do sleep 0.01; done; touch /tmp/ready; exec sleep 1000"


@dataclass
class Machine:
    root: Path
    process: subprocess.Popen[bytes]

    def log(self, name: str, suffix: str = ".log") -> str:
        try:
            return (self.root / "var/log/godhand" / (name + suffix)).read_text()
        except FileNotFoundError:
            return ""

    def tell(self, number: signal.Signals) -> None:
        """Process 1 of the machine: the only child of the one that made its namespaces."""
        for pid in Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split():
            os.kill(int(pid), number)


@pytest.fixture
def boot(place: Path) -> Iterator[Any]:
    root = place / "machine"
    machines: list[Machine] = []

    def boot(*entries: dict[str, Any]) -> Machine:
        for folder in ("opt/godhand", "run", "tmp", "var/log"):
            (root / folder).mkdir(parents=True)
        (root / "tmp").chmod(0o1777)
        shutil.copytree("/etc", root / "etc", symlinks=True)
        for name in ("passwd", "group"):
            shutil.copy(place / name, root / "etc" / name)
        shutil.copy(INIT, root / "opt/godhand/init")
        shutil.copytree(DAEMON, root / "opt/godhand/guest")
        (root / "opt/godhand/start.json").write_text(json.dumps(entries))
        argv = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--net", "--uts"]
        argv += ["sh", "-euc", WORLD, "sh", str(root), str(PYTHON)]
        machines.append(Machine(root, subprocess.Popen(argv, env={"GODHAND_TOKEN": "token of the machine"})))
        return machines[0]

    yield boot
    for machine in machines:
        if machine.process.poll() is None:
            machine.tell(signal.SIGKILL)
            machine.process.wait()
    shutil.rmtree(root)


def sh(name: str, script: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "argv": ["sh", "-c", script],
        "user": "agent",
        "cwd": "/",
        "ready": None,
        "restart": False,
    } | more


def release(machine: Machine, slow: str, *, held: str) -> None:
    """Let one that is started become ready; the one that waits for it must not have run before."""
    eventually(lambda: machine.log(slow) == "up\n")
    assert machine.log(held) == ""
    (machine.root / "tmp/go").touch()


def test_it_gives_the_machine_an_identity(boot: Any) -> None:
    machine = boot(sh("look", "cat /etc/machine-id; stat -c '%u %a' /run/user/*; stat -c %a /tmp/.X11-unix; echo done"))
    eventually(lambda: "done" in machine.log("look"))
    identity, runtime, sockets, _ = machine.log("look").splitlines()
    assert len(identity) == 32
    assert identity != Path("/etc/machine-id").read_text().strip()
    assert (runtime, sockets) == (f"{UID} 700", "1777")


def test_it_starts_in_order_each_as_its_user_in_its_own_session(boot: Any) -> None:
    machine = boot(
        sh("first", SLOW, ready={"path": "/tmp/ready"}),
        sh("second", "ls /tmp/ready; id -un; echo $A; pwd; ps -o sid= $$; echo $$", env={"A": "b"}, cwd="/usr"),
        sh("third", "id -un; grep -qas 'token of' /proc/*/environ || echo hidden", user="root"),
    )
    release(machine, "first", held="second")
    eventually(lambda: machine.log("third") == "root\nhidden\n" and len(machine.log("second").split()) == 6)
    ready, user, variable, folder, session, pid = machine.log("second").split()
    assert (ready, user, variable, folder) == ("/tmp/ready", "agent", "b", "/usr")
    assert session == pid


def test_it_waits_for_a_port(boot: Any) -> None:
    serve = """
import os, socket, time
print("up", flush=True)
while not os.path.exists("/tmp/go"):
    time.sleep(0.01)
server = socket.create_server(("", 7001))
open("/tmp/up", "w").close()
time.sleep(1000)
"""
    machine = boot(
        sh("server", "", argv=["python3", "-c", serve], ready={"port": 7001}),
        sh("after", "ls /tmp/up"),
    )
    release(machine, "server", held="after")
    eventually(lambda: machine.log("after") == "/tmp/up\n")


def test_it_restarts_what_should_run_and_leaves_the_rest(boot: Any) -> None:
    machine = boot(
        sh("steady", "echo again", restart=True), sh("once", "echo one time"), sh("missing", "", argv=["no-such"])
    )
    eventually(lambda: machine.log("steady").count("again") >= 3)
    eventually(lambda: "cannot start" in machine.log("missing"))
    assert machine.log("once") == "one time\n"


def test_it_keeps_the_guest_running(boot: Any) -> None:
    find = "grep -ls [g]uest/__main__.py /proc/[0-9]*/cmdline | cut -d/ -f3 | grep ."
    until_found = f"until {find} >/dev/null; do :; done"
    kill = f"{until_found}; kill -9 $({find}); echo killed; {until_found}; echo back"
    machine = boot(sh("killer", kill, user="root"))
    eventually(lambda: machine.log("killer") == "killed\nback\n")


def test_it_bounds_the_logs(boot: Any) -> None:
    machine = boot(sh("chatty", "head -c 20000000 /dev/zero; echo the end"))
    eventually(lambda: "the end" in machine.log("chatty") + machine.log("chatty", ".log.1"))
    eventually(lambda: len(list((machine.root / "var/log/godhand").glob("chatty*"))) == 2)
    assert len(machine.log("chatty") + machine.log("chatty", ".log.1")) < 3 << 20


def test_it_reaps_orphans(boot: Any) -> None:
    zombies = "grep -l '^State:.Z' /proc/[0-9]*/status"
    machine = boot(sh("orphans", f"for i in 1 2 3; do (true &); done; while {zombies}; do :; done; echo clean"))
    eventually(lambda: machine.log("orphans").endswith("clean\n"))


def test_it_stops_everything_when_told(boot: Any) -> None:
    machine = boot(
        sh("polite", "trap 'echo bye; exit' TERM; echo up; while :; do sleep 0.01; done"),
        sh("deaf", "trap '' TERM; sleep 1000; :"),
    )
    eventually(lambda: "up" in machine.log("polite"))
    machine.tell(signal.SIGTERM)
    assert machine.process.wait(10) == 0
    assert machine.log("polite").endswith("bye\n")


def test_it_is_only_for_process_one() -> None:
    result = subprocess.run([sys.executable, "-IS", str(INIT)], capture_output=True, check=False)
    assert result.returncode == 1
    assert b"process 1" in result.stderr
