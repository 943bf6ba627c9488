"""The host's side of the guest: commands, shells and files inside one machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

MIB = 1 << 20


@dataclass(frozen=True)
class ExecResult:
    returncode: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True)
class BashResult:
    output: bytes
    exit_code: int
    truncated: bool = False
    restarted: bool = False


@dataclass(frozen=True)
class Entry:
    name: str
    kind: str
    size: int
    mode: int
    modified: float


class Guest:
    def __init__(self, host: str, port: int, token: str, *, connect_timeout: float = 5) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ping(self) -> None: ...

    def wait_until_ready(self, timeout: float) -> None: ...

    def exec(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout: float = 30,
        user: str | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        output_limit: int = 10 * MIB,
        op_id: str | None = None,
    ) -> ExecResult:
        raise NotImplementedError

    def read_file(self, path: str, *, user: str | None = None, limit: int = 100 * MIB) -> bytes:
        raise NotImplementedError

    def write_file(self, path: str, data: bytes, *, user: str | None = None, op_id: str | None = None) -> None: ...

    def bash(
        self, command: str, *, session: str = "main", timeout: float = 120, op_id: str | None = None
    ) -> BashResult:
        raise NotImplementedError

    def list_dir(self, path: str, *, user: str | None = None) -> list[Entry]:
        raise NotImplementedError

    def rekey(self, new_token: str) -> None: ...

    def close(self) -> None: ...
