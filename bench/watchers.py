"""People who watch, as programs: a run's steps by its socket, a desktop by the gate; and some who stop reading."""

import asyncio
import os
import re
import socket
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import connect
from websockets.typing import Origin

STEP = re.compile(r'data-step=\\"(\d+)\\"')
ONE_PIXEL = bytes.fromhex("03 00 0000 0000 0001 0001")
WHOLE_SCREEN = bytes.fromhex("03 00 0000 0000 0500 0320")


@dataclass(frozen=True)
class Visitor:
    """A login, as headers."""

    url: str
    cookie: str

    def connect(self, address: str) -> connect:
        headers = {"Cookie": self.cookie}
        page = Origin(self.url)
        return connect(address, origin=page, additional_headers=headers, proxy=None, max_size=None, open_timeout=60)

    def socket(self, run_id: str) -> str:
        return f"{self.url.replace('http', 'ws', 1)}/ws/runs/{run_id}/"


@dataclass
class Watcher:
    """`seen` is when each step of a run first came, by the clock that the trace is written by."""

    run_id: str
    seen: dict[int, float] = field(default_factory=dict)

    async def watch(self, visitor: Visitor, ready: asyncio.Semaphore) -> None:
        async with visitor.connect(visitor.socket(self.run_id)) as line:
            ready.release()
            async for message in line:
                now = time.monotonic() * 1000
                for seq in STEP.findall(str(message)):
                    self.seen.setdefault(int(seq), now)
                await line.send("read")


async def watching(visitor: Visitor, run_ids: Sequence[str], seconds: float) -> list[Watcher]:
    """One watcher for each of the ids, all at once, for so long."""
    watchers, ready = [Watcher(run_id) for run_id in run_ids], asyncio.Semaphore(0)
    tasks = [asyncio.create_task(watcher.watch(visitor, ready)) for watcher in watchers]
    for _ in tasks:
        await asyncio.wait_for(ready.acquire(), 60)
    await asyncio.sleep(seconds)
    for task in tasks:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    broken = [one for one in ended if not isinstance(one, asyncio.CancelledError)]
    if broken:
        raise SystemExit(f"{len(broken)} of {len(tasks)} watchers lost their connection: {broken[0]!r}")
    return watchers


@dataclass
class Viewer:
    """Looks at a desktop through the gate. `took` are the milliseconds from a question for a pixel to its answer."""

    address: str
    visitor: Visitor
    took: list[float] = field(default_factory=list)

    async def look(self, times: int, barrier: asyncio.Barrier) -> None:
        async with self.visitor.connect(self.address) as line:
            await shake(line)
            await barrier.wait()
            for _ in range(times):
                began = time.monotonic()
                await line.send(ONE_PIXEL)
                await whole(line, 4 + 12 + 4)
                self.took.append((time.monotonic() - began) * 1000)
                await asyncio.sleep(0.2)
            await barrier.wait()


async def shake(line: Any) -> None:
    await whole(line, 12)
    await line.send(b"RFB 003.008\n")
    await whole(line, 2)
    await line.send(b"\x01")
    await whole(line, 4)
    await line.send(b"\x01")
    head = await whole(line, 24)
    name = int.from_bytes(head[20:24], "big")
    if len(head) < 24 + name:
        await whole(line, 24 + name - len(head))


async def whole(line: Any, size: int) -> bytes:
    got = b""
    while len(got) < size:
        got += await line.recv()
    return got


async def looking(visitor: Visitor, addresses: Sequence[str], times: int, at_last: Any) -> tuple[list[Viewer], Any]:
    """All of them at once; `at_last` is called while they are still there."""
    viewers, barrier = [Viewer(address, visitor) for address in addresses], asyncio.Barrier(len(addresses) + 1)
    tasks = [asyncio.create_task(viewer.look(times, barrier)) for viewer in viewers]
    await asyncio.wait_for(barrier.wait(), 120)
    while not all(len(viewer.took) == times for viewer in viewers):
        await asyncio.sleep(0.05)
        for task in tasks:
            if task.done():
                task.result()
    found = at_last()
    await barrier.wait()
    await asyncio.gather(*tasks)
    return viewers, found


class Stalled:
    """A browser whose network has stopped: it holds its connection and reads nothing."""

    def __init__(self, address: str, visitor: Visitor) -> None:
        place = urlsplit(address)
        self._line = socket.socket()
        self._line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self._line.connect((place.hostname, place.port))
        path = f"{place.path}?{place.query}" if place.query else place.path
        words = f"GET {path} HTTP/1.1\r\nHost: {place.netloc}\r\nOrigin: {visitor.url}\r\nCookie: {visitor.cookie}\r\n"
        upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        self._line.sendall(f"{words}{upgrade}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode())
        if b" 101 " not in self._line.recv(20):
            raise SystemExit(f"{place.path} turned a watcher away.")

    def say(self, data: bytes) -> None:
        """One masked message, by a mask that changes nothing."""
        size = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0xFE]) + len(data).to_bytes(2, "big")
        with suppress(OSError):
            self._line.sendall(b"\x82" + size + bytes(4) + data)

    def close(self) -> None:
        self._line.close()


def memory(*pids: int) -> float:
    """Megabytes that these processes and their children have for themselves, and their shares of the rest."""
    return sum(_pss(pid) for parent in pids for pid in (parent, *_children(parent)))


def _children(pid: int) -> list[int]:
    with suppress(OSError):
        return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def _pss(pid: int) -> float:
    with suppress(OSError):
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return int(re.findall(r"^Pss:\s+(\d+) kB", rollup, re.MULTILINE)[0]) / 1024
    return 0.0


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
