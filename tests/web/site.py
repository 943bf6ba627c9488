"""A whole site in processes of its own, with a temporary home."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
import urllib.request
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

from tests.home import TEST_HOME
from tests.ports import free_port

ROOT = Path(__file__).parents[2]
DATABASE = Path("db/godhand.sqlite3")


@cache
def migrated() -> Path:
    """A database with all tables and no rows, which every site begins with a copy of."""
    home = TEST_HOME / "migrated"
    (home / DATABASE).parent.mkdir(parents=True)
    env = os.environ | {"GODHAND_HOME": str(home)}
    subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, env=env, check=True)
    return home / DATABASE


def copied(source: Path, target: Path) -> None:
    """In one transaction, also while others read."""
    with closing(sqlite3.connect(source, timeout=20)) as one, closing(sqlite3.connect(target, timeout=20)) as other:
        one.backup(other)


def end(process: subprocess.Popen[Any]) -> None:
    process.terminate()
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        # Daphne hangs when it is stopped amid requests: their threads wait for its loop, which has ended.
        process.kill()
        process.communicate(timeout=10)


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
        self.seeding: subprocess.Popen[str] | None = None

    def start(self) -> None:
        (self.home / DATABASE).parent.mkdir(parents=True)
        shutil.copy(migrated(), self.home / DATABASE)
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

    def keep(self) -> None:
        """The rows as they are now, to `restore` them."""
        copied(self.home / DATABASE, self.home / "kept.sqlite3")

    def restore(self) -> None:
        copied(self.home / "kept.sqlite3", self.home / DATABASE)

    def stop(self) -> None:
        for process in (self.seeding, self.daphne):
            if process:
                end(process)

    def seed(self, *argv: str) -> str:
        return self.run("tests.web.seed", *argv)

    def run(self, module: str, *argv: str) -> str:
        """What the program printed, which ran over the site's rows."""
        if not self.seeding:
            command, pipe = [sys.executable, "-m", "tests.web.seeding"], subprocess.PIPE
            self.seeding = subprocess.Popen(command, cwd=ROOT, env=self.env, stdin=pipe, stdout=pipe, text=True)
        assert self.seeding.stdin
        assert self.seeding.stdout
        self.seeding.stdin.write(json.dumps([module, *argv]) + "\n")
        self.seeding.stdin.flush()
        told = json.loads(self.seeding.stdout.readline())
        assert not told["failure"], told["failure"]
        return str(told["printed"])

    def made(self, *argv: str) -> Any:
        """What a seed tells at last, after what was logged."""
        return json.loads(self.seed(*argv).splitlines()[-1])

    def cookies(self, who: str) -> list[Any]:
        if not who:
            return []
        name, value = self.facts["sessions"][who]
        return [{"name": name, "value": value, "url": self.url}]
