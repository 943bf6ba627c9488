"""A Redis of a test's own, to be shut down and started anew, empty."""

import shutil
import subprocess
from pathlib import Path

from redis import ConnectionError as RedisConnectionError
from redis import Redis

from godhand_web.cli.processes import wait_until
from godhand_web.cli.system import REDIS_PROGRAMS
from tests.ports import free_port


class Broker:
    def __init__(self, directory: Path) -> None:
        self.directory, self.socket = directory, directory / "redis.sock"
        self.url = f"unix://{self.socket}"
        self.port = free_port()
        self.tcp_url = f"redis://127.0.0.1:{self.port}/0"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        program = next(path for path in map(shutil.which, REDIS_PROGRAMS) if path)
        argv = ["redis-server", "--dir", str(self.directory), "--save", "", "--bind", "127.0.0.1"]
        argv += ["--port", str(self.port), "--unixsocket", str(self.socket), "--unixsocketperm", "777"]
        self.process = subprocess.Popen(argv, executable=program, stdout=subprocess.DEVNULL)
        with Redis.from_url(self.url) as client:
            assert wait_until(lambda: answers(client), 10)

    def stop(self) -> None:
        """SHUTDOWN NOSAVE: what it knew is lost."""
        if self.process:
            with Redis.from_url(self.url) as client:
                client.shutdown(nosave=True)
            self.process.wait(10)
            self.process = None


def answers(client: Redis) -> bool:
    try:
        return bool(client.ping())
    except RedisConnectionError:
        return False
