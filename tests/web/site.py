"""A whole site in processes of its own, with a temporary home."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Site:
    def __init__(self, home: Path, redis_url: str) -> None:
        self.home = home
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self.env = os.environ | {
            "GODHAND_HOME": str(home),
            "GODHAND_IMAGES": str(home / "images"),
            "GODHAND_REDIS_URL": redis_url,
            "GODHAND_SECRET_KEY": "only for this test",
            "GODHAND_PORT": str(self.port),
            "GODHAND_GATE_PORT": str(free_port()),
        }
        self.facts: dict[str, Any] = {}
        self.daphne: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.facts = json.loads(self.seed("all"))
        argv = [sys.executable, "-m", "daphne", "-b", "127.0.0.1", "-p", str(self.port), "godhand_web.asgi:application"]
        with (self.home / "daphne.log").open("wb") as log:
            self.daphne = subprocess.Popen(argv, cwd=ROOT, env=self.env, stdout=log, stderr=log)
        for _ in range(150):
            try:
                urllib.request.urlopen(f"{self.url}/healthz", timeout=5).close()
                return
            except OSError:
                time.sleep(0.2)
        raise AssertionError((self.home / "daphne.log").read_text())

    def stop(self) -> None:
        if self.daphne:
            self.daphne.terminate()
            try:
                self.daphne.wait(10)
            except subprocess.TimeoutExpired:
                # Daphne hangs when it is stopped amid requests: their threads wait for its loop, which has ended.
                self.daphne.kill()
                self.daphne.wait(10)

    def seed(self, *argv: str) -> str:
        command = [sys.executable, "-m", "tests.web.seed", *argv]
        return subprocess.run(command, cwd=ROOT, env=self.env, check=True, stdout=subprocess.PIPE, text=True).stdout

    def made(self, *argv: str) -> Any:
        """What a seed tells at last, after what was logged."""
        return json.loads(self.seed(*argv).splitlines()[-1])

    def cookies(self, who: str) -> list[Any]:
        if not who:
            return []
        name, value = self.facts["sessions"][who]
        return [{"name": name, "value": value, "url": self.url}]
