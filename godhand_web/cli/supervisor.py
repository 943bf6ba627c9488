"""Starts services, restarts those that die, and ends all of them. What runs is written down for whoever comes next."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from django.conf import settings

from sandboxes.host import here

from . import record
from .place import ROOT
from .processes import end_group, start_time
from .services import Service
from .system import announce, say

MOST_DEATHS = 5
DEATH_WINDOW = 60.0
LOG_LIMIT = 20 * 2**20


class GaveUp(Exception):
    pass


@dataclass
class Running:
    service: Service
    process: subprocess.Popen[bytes]
    deaths: list[float] = field(default_factory=list)


def log_file(name: str) -> Path:
    return here().logs / f"{name}.log"


def end_leftovers() -> list[str]:
    """End services of an `up` that was killed; returns their names. Its machines are left, and so is its record."""
    recorded = record.read()
    if recorded is None:
        return []
    ended = []
    for name, (pid, started) in recorded["services"].items():
        if start_time(pid) == started:
            ended.append(name)
            end_group(pid, started, 10)
    return ended


class Supervisor:
    def __init__(self) -> None:
        self.running: dict[str, Running] = {}
        self.doing = "looking for what it needs"
        self.trouble = ""

    def tell(self, line: str) -> None:
        """Say it here, and to whoever asks what we are doing."""
        say(line)
        self.doing = " ".join(line.split())
        with suppress(OSError):  # `tend` writes it again.
            self.write_down()

    def start(self, *services: Service) -> None:
        """Start side by side, then wait for each. Raises GaveUp with the service's last words."""
        for service in services:
            self.running[service.name] = Running(service, self._spawn(service))
        self.write_down()
        for service in services:
            self._await_ready(service)

    def _await_ready(self, service: Service) -> None:
        began = time.monotonic()
        while not service.ready():
            if self.running[service.name].process.poll() is not None:
                raise GaveUp(f"“{service.name}” ended while starting: {last_words(service.name)}{service.remedy}")
            if time.monotonic() - began > 60:
                raise GaveUp(f"“{service.name}” was not ready after 60 s: {last_words(service.name)}")
            time.sleep(0.05)

    def _spawn(self, service: Service) -> subprocess.Popen[bytes]:
        path = log_file(service.name)
        _shorten(path)
        service.before()
        with path.open("ab") as log:
            return subprocess.Popen(
                service.argv,
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def write_down(self) -> None:
        """Raises OSError."""
        own = os.getpid()
        process: record.Process = {"pid": own, "started": start_time(own) or 0}
        record.write({**process, "services": self._processes(), "doing": self.doing, "url": settings.PUBLIC_URL})

    def _processes(self) -> dict[str, tuple[int, int]]:
        ids = {name: entry.process.pid for name, entry in self.running.items()}
        return {name: (pid, start_time(pid) or 0) for name, pid in ids.items()}

    def tend(self) -> None:
        """Look once at every service; restart the dead. Raises GaveUp when one keeps dying.

        What is written down about them is written again when it was lost. A disk that is full is waited for.
        """
        for name, entry in self.running.items():
            _shorten(log_file(name))
            if entry.process.poll() is not None:
                self._revive(name, entry)
        written = record.read()
        if written is None or written["services"] != self._processes():
            with suppress(OSError):
                self.write_down()

    def _revive(self, name: str, entry: Running) -> None:
        now, code = time.monotonic(), entry.process.returncode
        deaths = [death for death in entry.deaths if now - death < DEATH_WINDOW] + [now]
        if len(deaths) > MOST_DEATHS:
            raise GaveUp(f"“{name}” died {len(deaths)} times in a minute: {last_words(name)}")
        try:
            entry.process = self._spawn(entry.service)
        except OSError as error:
            self._say_once(f"{name} ended with code {code} and cannot be started again yet: {error.strerror}")
            return
        entry.deaths = deaths
        say(f"{name} ended with code {code}; it was started again")

    def _say_once(self, trouble: str) -> None:
        if trouble != self.trouble:
            say(trouble)
        self.trouble = trouble

    def stop(self, *names: str) -> None:
        for name in names or tuple(reversed(self.running)):
            entry = self.running.pop(name, None)
            if entry is not None and entry.process.poll() is None:
                started = start_time(entry.process.pid)
                if started is not None:
                    end_group(entry.process.pid, started, entry.service.patience)
                entry.process.wait()


def last_words(name: str) -> str:
    try:
        lines = log_file(name).read_text(errors="replace").splitlines()
    except OSError:
        return "it left no log"
    return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "it said nothing")


def _shorten(path: Path) -> None:
    """Keep one earlier piece of a log that has grown; the writer appends to the emptied file."""
    try:
        if path.stat().st_size > LOG_LIMIT:
            path.with_suffix(".log.1").write_bytes(path.read_bytes()[-LOG_LIMIT:])
            os.truncate(path, 0)
    except FileNotFoundError:
        pass
    except OSError as error:
        announce(f"{path.name} cannot be shortened: {error}", sys.stderr)
