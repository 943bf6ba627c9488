"""A real gate in front of a real machine, and a browser made of raw WebSocket messages."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from redis import Redis
from websockets.sync.client import ClientConnection, connect

from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.barrier import wait_for_input
from sandboxes.display.filter import Role
from sandboxes.fence import Fence, Holding, clock
from sandboxes.gate import tickets
from tests.display.conftest import desktop, event_log  # noqa: F401
from tests.ports import free_port

ORIGIN = "http://desktop.test"
MACHINE = "m1"
OWNER = "7"
SECOND = "9"
PROGRAM = f"""
import json, logging, pathlib, sys
from sandboxes.fence import Fence
from sandboxes.gate import relay
from sandboxes.gate.server import Target, serve
relay.ASK_EVERY = 0.2
logging.basicConfig(level="INFO")
port, redis_url, host, vnc_port, most, seen, fence = sys.argv[1:]
def authorize(ticket, cookies):
    print(json.dumps(dict(cookies)), file=open(seen, "a"))
    guard = lambda: Fence(pathlib.Path(fence)).passing("user:" + ticket.user_id)
    allowed = ticket.user_id in ("{OWNER}", "{SECOND}")
    still = lambda: not pathlib.Path(fence + "." + ticket.user_id + ".over").exists()
    return Target(host, int(vnc_port), guard if ticket.role == "drive" else None, still) if allowed else None
serve("127.0.0.1", int(port), redis_url, allowed_origins=["{ORIGIN}"], authorize=authorize, most_connections=int(most))
"""


@dataclass
class RunningGate:
    port: int
    process: "subprocess.Popen[bytes]"
    redis_url: str
    log: Path
    cookies: Path
    fence: Fence
    display: tuple[str, int]
    clients: ExitStack = field(default_factory=ExitStack)
    epoch: int = 0

    def ticket(self, role: Role = "view", *, machine: str = MACHINE, user: str = OWNER) -> str:
        with Redis.from_url(self.redis_url) as redis:
            return tickets.issue(redis, machine, user, role)

    def give(self, holder: str, seconds: float | None = None) -> None:
        """The machine is this one's from now on, as `sandboxes.lease.change` does it."""
        self.epoch += 1
        self.fence.put(Holding)
        wait_for_input(*self.display)
        self.fence.put(lambda: Holding(holder, self.epoch, clock() + seconds if seconds is not None else None))

    def connect(
        self, ticket: str, *, machine: str = MACHINE, origin: str | None = ORIGIN, cookie: str = "session=abc"
    ) -> ClientConnection:
        url = f"ws://127.0.0.1:{self.port}/vnc/{machine}?ticket={ticket}"
        headers = {"Cookie": cookie} | ({"Origin": origin} if origin else {})
        client = connect(url, additional_headers=headers, proxy=None, close_timeout=1)
        return self.clients.enter_context(client)

    def stop(self) -> None:
        self.clients.close()
        self.process.terminate()
        self.process.wait(10)

    def children(self) -> list[int]:
        listing = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in listing.read_text().split()]


def wait_until(met: Callable[[], object], timeout: float = 30) -> None:
    deadline = time.monotonic() + timeout
    while not met():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def listens(port: int) -> bool:
    """Without connecting, which would cost the gate a process."""
    return f":{port:04X} 00000000:0000 0A" in Path("/proc/net/tcp").read_text()


def run_gate(redis_url: str, folder: Path, host: str, vnc_port: int, most: int = 8) -> RunningGate:
    port, log, seen, fence = free_port(), folder / "gate.log", folder / "cookies", Fence(folder / "fence")
    argv = [sys.executable, "-c", PROGRAM, str(port), redis_url, host, str(vnc_port), str(most), str(seen)]
    with log.open("wb") as out:
        process = subprocess.Popen([*argv, str(fence.path)], stderr=out, cwd=Path(__file__).parents[2])
    gate = RunningGate(port, process, redis_url, log, seen, fence, (host, vnc_port))
    wait_until(lambda: listens(port))
    return gate


@pytest.fixture
def start_gate(redis_url: str, tmp_path: Path) -> Iterator[Callable[..., RunningGate]]:
    gates: list[RunningGate] = []

    def start(host: str, vnc_port: int, most: int = 8) -> RunningGate:
        (folder := tmp_path / f"gate{len(gates)}").mkdir()
        gates.append(run_gate(redis_url, folder, host, vnc_port, most))
        return gates[-1]

    yield start
    for gate in gates:
        gate.stop()


@pytest.fixture
def own_gate(start_gate: Callable[..., RunningGate], machine: GvisorSandbox) -> RunningGate:
    endpoint = machine.endpoint()
    return start_gate(endpoint.host, endpoint.vnc_port)


@pytest.fixture(scope="package")
def shared_gate(
    redis_url: str, machine: GvisorSandbox, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningGate]:
    endpoint = machine.endpoint()
    gate = run_gate(redis_url, tmp_path_factory.mktemp("gate"), endpoint.host, endpoint.vnc_port)
    yield gate
    gate.stop()


@pytest.fixture
def gate(shared_gate: RunningGate) -> Iterator[RunningGate]:
    """One that tests share: nobody is connected, nobody drives, and nobody's rights are over."""
    yield shared_gate
    shared_gate.clients.close()
    shared_gate.fence.put(Holding)
    for over in shared_gate.fence.path.parent.glob("*.over"):
        over.unlink()
    wait_until(lambda: not shared_gate.children())


class Browser:
    """Speaks RFB over a connection to the gate, without a single scruple."""

    def __init__(self, client: ClientConnection) -> None:
        self.client = client
        self._received = b""
        assert self.read(12) == b"RFB 003.008\n"
        self.send(b"RFB 003.008\n")
        self.read(self.read(1)[0])
        self.send(b"\x01")
        assert self.read(4) == bytes(4)
        self.send(b"\x00")
        head = self.read(24)
        self.size = int.from_bytes(head[:2], "big"), int.from_bytes(head[2:4], "big")
        self.read(int.from_bytes(head[20:24], "big"))

    def send(self, data: bytes) -> None:
        self.client.send(data)

    def read(self, size: int) -> bytes:
        while len(self._received) < size:
            message = self.client.recv(timeout=30)
            assert isinstance(message, bytes)
            self._received += message
        taken, self._received = self._received[:size], self._received[size:]
        return taken

    def round_trip(self) -> None:
        """Ask for one pixel: its coming says that all sent before has been looked at."""
        self.send(bytes.fromhex("03 00 0000 0000 0001 0001"))
        assert self.read(1) == b"\x00"
        self.read(3 + 12 + 4)
