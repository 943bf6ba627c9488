"""The host's side of the guest: commands, shells and files inside one machine."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..errors import Ended, Gone, OutputLimit, TimedOut
from .connection import Header, field
from .conversation import given
from .transfers import Transfers

MIB = 1 << 20
MARGIN = 20.0
LISTING_LIMIT = 16 * MIB


@dataclass(frozen=True)
class ExecResult:
    returncode: int
    stdout: bytes
    stderr: bytes


@dataclass(frozen=True)
class BashResult:
    """`restarted`: the shell with its variables, directory and jobs is gone; the next command has a new one."""

    output: bytes
    exit_code: int
    timed_out: bool = False
    restarted: bool = False
    truncated: bool = False


@dataclass(frozen=True)
class Entry:
    """`kind` is file, directory, symlink or other; links are not followed."""

    name: str
    kind: str
    size: int
    mode: int
    modified: float


class Guest(Transfers):
    """Connects when first used. Not for several threads at once: each makes its own.

    Every method raises Gone when the machine does not answer, or answers nonsense, and Refused when it says no.
    A request that is safe to repeat, or carries an `op_id`, is repeated once over a new connection.
    """

    def ping(self) -> None:
        self._ask({"op": "ping"}, timeout=10)

    def wait_until_ready(self, timeout: float) -> None:
        """A machine that boots loses the first packets, so many short attempts are quicker than a patient one.

        Raises Ended as soon as it is known that nothing will answer.
        """
        deadline = time.monotonic() + timeout
        while True:
            try:
                self._connect(connect_timeout=0.25, hello_timeout=max(0.25, deadline - time.monotonic()))
                return
            except Ended:
                raise
            except Gone:
                if time.monotonic() >= deadline:
                    raise Gone(f"The machine's guest did not answer within {timeout:g} seconds.") from None
            time.sleep(0.01)

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
        """Raises TimedOut when the whole process tree was killed, and OutputLimit when it said too much.

        A missing program is return code 127, one that cannot be executed 126, death by signal n is 128+n.
        """
        request: Header = {"op": "exec", "argv": list(argv), "timeout": timeout, "output_limit": output_limit}
        request |= given(user=user, cwd=cwd, op_id=op_id, env=None if env is None else dict(env))
        answer, (stdout, stderr) = self._ask(
            request, stdin, timeout + MARGIN, [output_limit, output_limit], repeat=op_id is not None, path=cwd
        )
        if field(answer, "timed_out", bool):
            raise TimedOut(f"“{argv[0]}” took longer than {timeout:g} seconds and was ended.")
        if field(answer, "truncated", list) != [False, False]:
            raise OutputLimit(f"“{argv[0]}” gave more than {output_limit} bytes of output.")
        return ExecResult(field(answer, "returncode", int), stdout, stderr)

    def read_file(self, path: str, *, user: str | None = None, limit: int = 100 * MIB) -> bytes:
        """A path that does not begin with / is below the user's home, here and everywhere.

        Raises OutputLimit for a file larger than `limit`, without reading it.
        """
        request = {"op": "read", "path": path, "limit": limit} | given(user=user)
        return self._ask(request, timeout=60, limits=[limit], path=path)[1][0]

    def write_file(
        self, path: str, data: bytes, *, user: str | None = None, mode: int | None = None, op_id: str | None = None
    ) -> None:
        """Parents are made; a reader sees the old content or the new. Safe to repeat."""
        request = {"op": "write", "path": path} | given(user=user, mode=mode, op_id=op_id)
        self._ask(request, data, timeout=60, path=path)

    def bash(
        self,
        command: str,
        *,
        session: str = "main",
        timeout: float = 120,
        user: str | None = None,
        output_limit: int = MIB,
        op_id: str | None = None,
    ) -> BashResult:
        """Run a command in a shell that lives on in the machine. Output beyond the limit is cut and said so."""
        request: Header = {"op": "bash", "session": session, "command": command, "timeout": timeout}
        request |= given(user=user, op_id=op_id) | {"output_limit": output_limit}
        return self._bash(request, timeout, output_limit, repeat=op_id is not None)

    def restart_bash(self, session: str = "main", *, user: str | None = None) -> BashResult:
        """End the shell and everything it started. The next command gets a new one."""
        request = {"op": "bash", "session": session, "restart": True, "timeout": 120} | given(user=user)
        return self._bash(request, 120, 0, repeat=True)

    def list_dir(self, path: str, *, user: str | None = None) -> list[Entry]:
        """Raises OutputLimit for a directory with more entries than the guest lists."""
        answer, (listing,) = self._ask(
            {"op": "list", "path": path} | given(user=user), timeout=60, limits=[LISTING_LIMIT], path=path
        )
        if field(answer, "truncated", bool):
            raise OutputLimit(f"{path} has too many entries to list.")
        try:
            entries = json.loads(listing)
        except (ValueError, RecursionError):
            entries = None
        if not isinstance(entries, list):
            raise Gone("The machine's guest gave a listing that is not one.")
        return [_entry(entry) for entry in entries]

    def stat(self, path: str, *, user: str | None = None) -> Entry:
        answer, _ = self._ask({"op": "stat", "path": path} | given(user=user), timeout=60, path=path)
        return _entry(answer.get("entry"))

    def rekey(self, new_token: str, *, machine_id: str | None = None) -> None:
        """From now on only the new token opens the machine, and all who came with the old one are out.

        A copy of another machine becomes one of its own by its machine id, 32 hexadecimal digits.
        """
        request = {"op": "rekey", "new_token": new_token} | given(machine_id=machine_id)
        self._ask(request, timeout=10, repeat=False)
        self._token = new_token
        self.close()

    def _bash(self, request: Header, timeout: float, limit: int, *, repeat: bool) -> BashResult:
        answer, (output,) = self._ask(request, timeout=2 * timeout + MARGIN, limits=[limit], repeat=repeat)
        return BashResult(
            output,
            field(answer, "exit_code", int),
            field(answer, "timed_out", bool),
            field(answer, "restarted", bool),
            field(answer, "truncated", bool),
        )


def _entry(value: object) -> Entry:
    if not isinstance(value, dict):
        raise Gone("The machine's guest gave a directory entry that is not one.")
    return Entry(
        field(value, "name", str),
        field(value, "kind", str),
        field(value, "size", int),
        field(value, "mode", int),
        field(value, "modified", float),
    )
