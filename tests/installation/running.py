"""A whole installation as a person starts it: `./godhand up` in its own home, on its own ports."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from time import monotonic
from typing import Any

from godhand_web.cli import record
from godhand_web.cli.processes import is_same
from sandboxes.host import Host, here
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
GODHAND = str(ROOT / "godhand")


@dataclass
class Installation:
    home: Path
    extra: dict[str, str] = field(default_factory=dict)
    started: list["Up"] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.port, self.gate_port = free_port(), free_port()
        self.url = f"http://localhost:{self.port}"
        self.home.mkdir(parents=True, exist_ok=True)
        self.home.chmod(0o755)

    @property
    def host(self) -> Host:
        return Host(home=self.home, images=here().images, subnet=here().subnet)

    @property
    def environment(self) -> dict[str, str]:
        ports = {"GODHAND_PORT": str(self.port), "GODHAND_GATE_PORT": str(self.gate_port), "GODHAND_TEMPLATES": "no"}
        return {**os.environ, "GODHAND_HOME": str(self.home), **ports, **self.extra}

    def call(self, *arguments: str, timeout: float = 120) -> subprocess.CompletedProcess[str]:
        """A command to its end."""
        return subprocess.run(
            [GODHAND, *arguments],
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def up(self) -> "Up":
        return Up(self, "up")

    @contextmanager
    def serving(self) -> Iterator["Up"]:
        """Up for as long as it takes, and then away with all it made."""
        up = self.up()
        try:
            up.wait_for_link()
            yield up
        finally:
            up.stop()
            self.call("down")

    def told(self, code: str, timeout: float) -> Any:
        """What Python code, run by `manage shell`, prints as JSON after the word RESULT."""
        printed = self.call("manage", "shell", "-c", code, timeout=timeout)
        assert "RESULT" in printed.stdout, printed.stderr
        return json.loads(printed.stdout.rpartition("RESULT")[2])

    def login_link(self) -> str:
        return self.call("manage", "loginlink").stdout.strip()

    def record(self) -> record.Record | None:
        file = self.home / "own" / "up.json"
        return record.read_from(file) if file.exists() else None

    def services(self) -> dict[str, tuple[int, int]]:
        found = self.record()
        return {name: (pid, started) for name, (pid, started) in found["services"].items()} if found else {}

    def living(self) -> set[str]:
        return {name for name, (pid, started) in self.services().items() if is_same(pid, started)}


class Up:
    """A running `up` or `demo`, its output line by line."""

    def __init__(self, installation: Installation, *command: str) -> None:
        self.installation = installation
        self.lines: list[str] = []
        self._queue: Queue[str] = Queue()
        self.process = subprocess.Popen(
            [GODHAND, *command], env=installation.environment, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        installation.started.append(self)
        self._reader = Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as output:
            for line in output:
                self._queue.put(line)

    def wait_for(self, pattern: str, timeout: float = 120) -> re.Match[str]:
        deadline = monotonic() + timeout
        while True:
            try:
                line = self._queue.get(timeout=min(1, max(0.01, deadline - monotonic())))
            except Empty:
                assert self.process.poll() is None, f"ended with {self.process.returncode}:\n{''.join(self.lines)}"
                assert monotonic() < deadline, f"“{pattern}” did not come:\n{''.join(self.lines)}"
                continue
            self.lines.append(line)
            if found := re.search(pattern, line):
                return found

    def wait_for_link(self) -> str:
        return self.wait_for(r"http://\S+/login/link/\S+")[0]

    def wait_for_end(self, timeout: float) -> int:
        """Its exit code, once all that it has said is in `lines`."""
        code = self.process.wait(timeout)
        self._reader.join(timeout)
        while not self._queue.empty():
            self.lines.append(self._queue.get())
        return code

    def press_ctrl_c(self) -> None:
        """As a terminal does: everything in the foreground is told."""
        os.killpg(self.process.pid, signal.SIGINT)

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(120)
