"""The default backend: a user-space kernel between the machine and its host. No daemon, no KVM."""

import json
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from .. import network
from ..base import Capability, Endpoint, Handle, Sandbox
from ..display.desktop import Desktop
from ..errors import Gone, Unavailable
from ..host import Host, here
from ..images.store import Image
from ..runsc import Runsc, binary

VNC_PORT = 5901
GUEST_PORT = 5902
BOOT_TIMEOUT = 30
TERM = "xterm-256color"
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
CAPABILITIES = [
    "CAP_CHOWN",
    "CAP_DAC_OVERRIDE",
    "CAP_FOWNER",
    "CAP_FSETID",
    "CAP_KILL",
    "CAP_SETGID",
    "CAP_SETUID",
    "CAP_SETPCAP",
    "CAP_NET_BIND_SERVICE",
    "CAP_SYS_CHROOT",
    "CAP_AUDIT_WRITE",
]
MOUNTS = (
    ("/proc", "proc", ()),
    ("/dev", "tmpfs", ("nosuid", "mode=755")),
    ("/dev/pts", "devpts", ("newinstance", "ptmxmode=0666", "mode=0620", "gid=5")),
    ("/dev/shm", "tmpfs", ("mode=1777", "size=1g")),
    ("/tmp", "tmpfs", ("mode=1777",)),
    ("/run", "tmpfs", ("mode=755",)),
    ("/sys", "sysfs", ("ro",)),
)


@dataclass(frozen=True)
class Options:
    hostname: str = "desktop"


class GvisorSandbox(Sandbox):
    kind: ClassVar[str] = "gvisor"
    label: ClassVar[str] = "gVisor"
    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    Options: ClassVar[type] = Options

    def __init__(self, host: Host, handle: Handle) -> None:
        self.host = host
        self.handle = handle
        self.id = str(handle["id"])
        self.container = network.namespace_name(host, self.id)
        self.directory = host.machines / self.id
        self.runsc = Runsc(host)

    @classmethod
    def unavailable_reason(cls) -> str | None:
        if os.geteuid() != 0:
            return "gVisor machines need root for their network namespaces: run ./godhand as root."
        for program, package in (("ip", "iproute2"), ("nft", "nftables"), ("unshare", "util-linux")):
            if not shutil.which(program):
                return f"“{program}” is missing: install the package {package}."
        try:
            binary(here())
        except Unavailable as error:
            return str(error)
        return None

    @classmethod
    def create(cls, name: str, image: Image, options: Any) -> "GvisorSandbox":
        reason = cls.unavailable_reason()
        if reason:
            raise Unavailable(reason)
        sandbox = cls(here(), {"id": name})
        try:
            sandbox._claim(image, options)
        except BaseException:
            sandbox.destroy()
            raise
        return sandbox

    def _claim(self, image: Image, options: Any) -> None:
        network.ensure_firewall(self.host)
        self.directory.mkdir(parents=True, mode=0o700)
        link = network.connect(self.host, self.id)
        token = secrets.token_urlsafe(32)
        self.handle = {"id": self.id, "address": link.address, "token": token}
        config = _config(image.root, link.namespace, token, options)
        _write_private(self.directory / "config.json", config)

    @classmethod
    def attach(cls, handle: Handle) -> "GvisorSandbox":
        return cls(here(), handle)

    @classmethod
    def owned(cls) -> Iterator[Handle]:
        host = here()
        prefix = network.namespace_name(host, "")
        directories = host.machines.iterdir() if host.machines.is_dir() else ()
        ids = {path.name for path in directories if not path.name.startswith(".")}
        ids |= set(network.owned_ids(host))
        ids |= {name.removeprefix(prefix) for name in Runsc(host).containers()}
        yield from ({"id": machine_id} for machine_id in sorted(ids))

    def start(self) -> None:
        self.runsc.run(self.container, self.directory, self.container)
        with self.guest() as guest:
            guest.wait_until_ready(BOOT_TIMEOUT)
        with self._first_desktop() as desktop:
            desktop.wait_until(lambda screen: not screen.blank, BOOT_TIMEOUT)

    def _first_desktop(self) -> Desktop:
        """The guest may answer before the display does."""
        deadline = time.monotonic() + BOOT_TIMEOUT
        while True:
            try:
                return self.desktop()
            except Gone:
                if time.monotonic() > deadline or not self.alive():
                    raise
            time.sleep(0.02)

    def alive(self) -> bool:
        return self.runsc.alive(self.container)

    def stop(self) -> None:
        self.runsc.remove(self.container)

    def destroy(self) -> None:
        self.stop()
        network.disconnect(self.host, self.id)
        shutil.rmtree(self.directory, ignore_errors=True)

    def endpoint(self) -> Endpoint:
        return Endpoint(self.handle["address"], VNC_PORT, GUEST_PORT, self.handle["token"])

    def root_shell(self) -> list[str]:
        return self.runsc.exec_argv(self.container, "/bin/bash", "-l", flags=("-cwd", "/root", "-env", f"TERM={TERM}"))

    def runsc_exec(self, argv: list[str]) -> subprocess.CompletedProcess[bytes]:
        """The slow way in, past the guest: for measuring against."""
        return subprocess.run(
            self.runsc.exec_argv(self.container, *argv),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )


def _config(root: Path, namespace: str, token: str, options: Options) -> dict[str, Any]:
    kinds = ("pid", "ipc", "uts", "mount")
    return {
        "ociVersion": "1.0.2",
        "root": {"path": str(root)},
        "hostname": options.hostname,
        "process": {
            "args": ["/opt/godhand/init"],
            "cwd": "/",
            "user": {"uid": 0, "gid": 0},
            "env": [f"PATH={PATH}", "HOME=/root", "LANG=C.UTF-8", f"GODHAND_TOKEN={token}"],
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), CAPABILITIES),
        },
        "mounts": [
            {"destination": destination, "type": kind, "source": kind, "options": list(options)}
            for destination, kind, options in MOUNTS
        ],
        "linux": {
            "namespaces": [
                *({"type": kind} for kind in kinds),
                {"type": "network", "path": str(network.namespace_path(namespace))},
            ]
        },
    }


def _write_private(path: Path, content: dict[str, Any]) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(content, file)
