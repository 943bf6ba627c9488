"""The two interfaces of a machine: the Sandbox that owns its life, and the Desktop one sees and touches.

A backend is one file in `backends/` with one subclass of Sandbox. It says how a machine is made, found and
removed, and where it answers; commands, files and the screen follow from the endpoint.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Self

from .display.desktop import Desktop
from .guest.client import ExecResult, Guest
from .images.store import Image

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

    @classmethod
    @abstractmethod
    def unavailable_reason(cls) -> str | None:
        """None when machines of this kind can be made here, else one sentence with the fix."""

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
    def root_shell(self) -> list[str]:
        """The host's command that opens a root shell in the machine on the caller's terminal."""

    def guest(self) -> Guest:
        endpoint = self.endpoint()
        return Guest(endpoint.host, endpoint.guest_port, endpoint.token)

    def desktop(self) -> Desktop:
        """A new connection to the screen. The caller closes it. Raises Gone when nothing answers."""
        endpoint = self.endpoint()
        return Desktop.connect(endpoint.host, endpoint.vnc_port)

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
