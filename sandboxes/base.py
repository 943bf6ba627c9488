"""The two interfaces of a machine: the Sandbox that owns its life, and the Desktop one sees and touches.

A backend is one file in `backends/` with one subclass of Sandbox. It says how a machine is made, found and
removed, and where it answers; commands, files and the screen follow from the endpoint.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO, ClassVar, Self

from .display.desktop import Desktop
from .fence import Guard
from .guest.client import ExecResult, Guest
from .images.store import Image
from .lifeline import NO_LIFELINE, Lifeline
from .limits import Limits, Usage
from .snapshots import SnapshotRef

Handle = dict[str, Any]
"""Opaque JSON: whatever a backend needs to find its machine again from another process."""


class Capability(StrEnum):
    SNAPSHOT_DISK = "snapshot_disk"
    SNAPSHOT_MEMORY = "snapshot_memory"
    FORK = "fork"
    PAUSE = "pause"
    NETWORK_POLICY = "network_policy"
    RESIZE = "resize"


@dataclass(frozen=True)
class Endpoint:
    """Where a machine answers, as seen from its host."""

    host: str
    vnc_port: int
    guest_port: int
    token: str = field(repr=False)


class Sandbox(ABC):
    kind: ClassVar[str]
    label: ClassVar[str]
    capabilities: ClassVar[frozenset[Capability]]
    Options: ClassVar[type]

    handle: Handle
    guard: Guard = nullcontext
    """Of whoever acts through this object: connections made from now on send under it."""

    @classmethod
    @abstractmethod
    def unavailable_reason(cls) -> str | None:
        """None when machines of this kind can be made here, else one sentence with the fix."""

    @classmethod
    def runtime(cls) -> str:
        """Which build of its runtime makes machines here: only that one wakes what it has saved. Raises Unavailable."""
        return ""

    @classmethod
    @abstractmethod
    def create(cls, name: str, image: Image, options: Any) -> Self:
        """Claim everything the machine needs on the host, without starting it.

        Raises Unavailable when the host lacks something. On any failure nothing is left behind.
        """

    @classmethod
    @abstractmethod
    def attach(cls, handle: Handle) -> Self:
        """The same machine from another process. Touches nothing and does not check that it lives."""

    @classmethod
    @abstractmethod
    def owned(cls) -> Iterator[Handle]:
        """Everything on this host that this installation made, whole or half made or half removed."""

    @abstractmethod
    def start(self) -> None:
        """Return once the guest answers and the screen can be read. Raises Gone when it dies on the way."""

    @abstractmethod
    def alive(self) -> bool:
        """Whether the machine's processes run. Never raises for a machine that is not there."""

    @abstractmethod
    def stop(self) -> None:
        """End every process of the machine. A machine that does not run is left as it is."""

    @abstractmethod
    def destroy(self) -> None:
        """Remove all traces of the machine from the host. May be called again, and on half-made machines."""

    @abstractmethod
    def endpoint(self) -> Endpoint: ...

    @abstractmethod
    def snapshot(self, label: str) -> SnapshotRef:
        """Save the machine, which runs on. The reference says what it keeps: `disk`, or `disk+memory`.

        Connections into the machine may break; their owners connect again. Raises Gone when the machine is not
        there, Unavailable where the backend cannot, Refused while a root shell is open in it. A failure leaves the
        machine as it was and no snapshot.
        """

    @classmethod
    @abstractmethod
    def fork(cls, ref: SnapshotRef, name: str, **changes: Any) -> Self:
        """A new running machine from a snapshot: as many as wanted, also at once.

        It has its own network, token and machine id, and the saved machine's options but for those given here. What
        was fixed when that one booted stays: its name, and its limits of processes and disk. On any failure nothing is
        left behind.
        """

    @abstractmethod
    def restore(self, ref: SnapshotRef) -> None:
        """This machine, back to that point. Its handle may change.

        Raises Unavailable, with the machine as it was, when this runtime cannot wake the snapshot. On any other failure
        it is stopped, not destroyed.
        """

    @abstractmethod
    def root_shell(self) -> list[str]:
        """The host's command that opens a root shell in the machine on the caller's terminal."""

    def limits(self) -> Limits | None:
        """What it may take of its host; None where that is not known."""
        return None

    def usage(self) -> Usage | None:
        """What it takes of its host now; None where that is not known. Asks nobody in the machine."""
        return None

    def lifeline(self) -> Lifeline:
        """For one who waits for the machine, and closes it. Raises Ended when it is known to have ended."""
        return NO_LIFELINE

    def guest(self) -> Guest:
        endpoint = self.endpoint()
        return Guest(endpoint.host, endpoint.guest_port, endpoint.token, lifeline=self.lifeline, guard=self.guard)

    def desktop(self) -> Desktop:
        """A new connection to the screen. The caller closes it. Raises Gone when nothing answers."""
        endpoint = self.endpoint()
        return Desktop.connect(endpoint.host, endpoint.vnc_port, self.lifeline(), self.guard)

    def exec(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        timeout: float = 30,
        user: str | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> ExecResult:
        """Run a program to its end, as the desktop's own user unless told otherwise.

        A missing program is a result with return code 127. Raises TimedOut after killing the whole process
        tree, OutputLimit, Gone; never anything for a program that merely fails.
        """
        with self.guest() as guest:
            return guest.exec(argv, stdin=stdin, timeout=timeout, user=user, cwd=cwd, env=env)

    def read_file(self, path: str) -> bytes:
        """Raises FileNotFoundError, IsADirectoryError, PermissionError, OutputLimit, Gone."""
        with self.guest() as guest:
            return guest.read_file(path)

    def write_file(self, path: str, data: bytes) -> None:
        """Parent directories are made. Raises IsADirectoryError, PermissionError, Gone."""
        with self.guest() as guest:
            guest.write_file(path, data)

    def read_to(self, path: str, file: BinaryIO) -> int:
        """`read_file` for what is too large to hold, up to 4 GiB; how many bytes were read."""
        with self.guest() as guest:
            return guest.read_to(path, file)

    def write_from(self, path: str, file: BinaryIO) -> None:
        """`write_file` for what is too large to hold, up to 4 GiB."""
        with self.guest() as guest:
            guest.write_from(path, file)

    def upload_tree(self, source: Path, path: str) -> None:
        """Make a new directory in the machine that is like one here.

        Raises Refused for what `tree` does not carry or when something is there already, OutputLimit,
        PermissionError, Gone; then nothing has been made.
        """
        with self.guest() as guest:
            guest.upload_tree(source, path)

    def download_tree(self, path: str, target: Path) -> None:
        """Make a new directory here that is like one in the machine, however hostile the machine is.

        Raises Refused for what `tree` does not carry, OutputLimit, FileExistsError, FileNotFoundError,
        NotADirectoryError, PermissionError, Gone; then nothing has been made.
        """
        with self.guest() as guest:
            guest.download_tree(path, target)
