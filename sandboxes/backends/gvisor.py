"""The default backend: a user-space kernel between the machine and its host. No daemon, no KVM.

Memory and disk changes are in one checkpoint, so a snapshot is the whole running machine and a fork goes on from it.
"""

import json
import os
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar

from .. import network, shells
from ..base import Capability, Endpoint, Handle, Sandbox
from ..bundle import config, write_private
from ..display.insist import insist
from ..display.screen import Screen
from ..errors import Gone, Refused, Unavailable
from ..guest.client import Guest
from ..host import Host, here
from ..ids import is_plain
from ..images.store import Image
from ..lifeline import NO_LIFELINE, Lifeline
from ..limits import Limits, Usage, control_groups, remove_control_groups, usage
from ..runsc import Runsc, binary
from ..snapshots import SnapshotRef, Snapshots, describe
from ..urgency import urgent
from ..windows import wait_for_windows

VNC_PORT = 5901
GUEST_PORT = 5902
BOOT_TIMEOUT = 30
TERM = "xterm-256color"
TOKEN_FILE = "/run/godhand/token"
CHECKPOINT = "checkpoint"
FACTS = "facts.json"
SAVED = "machine.json"


@dataclass(frozen=True)
class Options:
    hostname: str = "desktop"
    limits: Limits = field(default_factory=Limits)
    policy: network.Policy = field(default_factory=network.Policy)

    @classmethod
    def saved(cls, facts: dict[str, Any]) -> "Options":
        """From what `asdict` made of it."""
        limits, policy = Limits(**facts.get("limits", {})), network.Policy(**facts.get("policy", {}))
        return cls(**{**facts, "limits": limits, "policy": policy})


class GvisorSandbox(Sandbox):
    kind: ClassVar[str] = "gvisor"
    label: ClassVar[str] = "gVisor"
    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {Capability.SNAPSHOT_DISK, Capability.SNAPSHOT_MEMORY, Capability.FORK, Capability.NETWORK_POLICY}
    )
    Options: ClassVar[type] = Options

    def __init__(self, host: Host, handle: Handle) -> None:
        self.host = host
        self.handle = handle
        self.id = str(handle["id"])
        if not is_plain(self.id):
            raise Gone(f"There is no machine {self.id[:40]!r} on this host.")
        self.container = network.namespace_name(host, self.id)
        self.directory = host.machines / self.id
        self.runsc = Runsc(host)
        self.first_frame: Screen | None = None

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
    def runtime(cls) -> str:
        return Runsc(here()).version()

    @classmethod
    def create(cls, name: str, image: Image, options: Any) -> "GvisorSandbox":
        reason = cls.unavailable_reason()
        if reason:
            raise Unavailable(reason)
        sandbox = cls(here(), {"id": name})
        try:
            sandbox._claim(describe(image), options, secrets.token_urlsafe(32), parent=None)
        except BaseException:
            sandbox.destroy()
            raise
        return sandbox

    def _claim(self, image: dict[str, str], options: Any, token: str, parent: str | None) -> None:
        is_new = not self.directory.exists()
        self.directory.mkdir(parents=True, mode=0o700, exist_ok=True)
        link = network.join(self.host, self.id, options.policy, is_new=is_new)
        facts = {**image, "options": asdict(options), "parent": parent}
        self.handle = {"id": self.id, "address": link.address, "token": token, **facts}
        bundle = config(Path(image["image_root"]), link.namespace, token, options.hostname, options.limits)
        write_private(self.directory / "config.json", bundle)
        write_private(self.directory / FACTS, facts)

    def _facts(self) -> dict[str, Any]:
        """What a snapshot of it is signed with: not the handle's, which services may write. Raises Refused."""
        try:
            found: dict[str, Any] = json.loads((self.directory / FACTS).read_text())
        except FileNotFoundError:
            raise Refused("A machine that an earlier GodHand made cannot be saved: fetch its files first.") from None
        return found

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
        ids |= {name.removeprefix(prefix) for name in control_groups(prefix)}
        yield from ({"id": machine_id} for machine_id in sorted(ids))

    def start(self) -> None:
        self.handle = {**self.handle, "pid": self.runsc.run(self.container, self.directory, self.container)}
        with self._urgent(), self.guest() as guest:
            guest.wait_until_ready(BOOT_TIMEOUT)
            # Without a way out it leads nowhere; a fork that has one finds it here.
            nameserver = network.nameserver_address(self.host)
            guest.write_file("/etc/resolv.conf", f"nameserver {nameserver}\n".encode(), user="root")
            with insist(self.desktop, BOOT_TIMEOUT) as desktop:
                desktop.wait_until(lambda screen: not screen.blank, BOOT_TIMEOUT)
            wait_for_windows(guest)

    def _urgent(self) -> AbstractContextManager[None]:
        return urgent(self.container, self.handle.get("pid"))

    def _look(self) -> Screen:
        with self.desktop() as desktop:
            return desktop.screenshot()

    def limits(self) -> Limits | None:
        return Options.saved(self.handle["options"]).limits if "options" in self.handle else None

    def usage(self) -> Usage | None:
        return usage(self.container)

    def lifeline(self) -> Lifeline:
        pid = self.handle.get("pid")
        return self.runsc.lifeline(self.container, pid) if pid else NO_LIFELINE

    def alive(self) -> bool:
        pid = self.handle.get("pid")
        return self.runsc.is_kernel(pid, self.container) if pid else self.runsc.alive(self.container)

    def stop(self) -> None:
        self.runsc.remove(self.container)
        remove_control_groups(self.container)

    def destroy(self) -> None:
        self.stop()
        network.disconnect(self.host, self.id)
        shutil.rmtree(self.directory, ignore_errors=True)

    def endpoint(self) -> Endpoint:
        return Endpoint(self.handle["address"], VNC_PORT, GUEST_PORT, self.handle["token"])

    def snapshot(self, label: str) -> SnapshotRef:
        if not self.alive():
            raise Gone("The machine could not be saved: it is not there.")
        store, facts = Snapshots(self.host), self._facts()
        with store.making() as (snapshot_id, directory):
            saved = directory / CHECKPOINT
            saved.mkdir()
            with shells.none_open(self.directory), self._urgent():
                self.runsc.checkpoint(self.container, saved)
            write_private(directory / SAVED, {"options": facts.pop("options"), "token": self.handle["token"]})
            ref = SnapshotRef(
                id=snapshot_id,
                kind=self.kind,
                runtime=self.runtime(),
                **facts,
                keeps="disk+memory",
                label=label,
                size=sum(path.stat().st_size for path in saved.iterdir()),
                made_at=time.time(),
            )
            return store.seal(directory, ref)

    @classmethod
    def fork(cls, ref: SnapshotRef, name: str, **changes: Any) -> "GvisorSandbox":
        sandbox = cls(here(), {"id": name})
        try:
            sandbox._wake(ref, **changes)
        except BaseException:
            sandbox.destroy()
            raise
        return sandbox

    def restore(self, ref: SnapshotRef) -> None:
        self._check(ref)
        self.stop()
        for name in ("config.json", FACTS):
            (self.directory / name).unlink(missing_ok=True)
        try:
            self._wake(ref)
        except BaseException:
            self.stop()
            raise

    def _check(self, ref: SnapshotRef) -> None:
        if ref.runtime != self.runtime():
            raise Unavailable(
                f"Snapshot {ref.id} was made by runsc {ref.runtime}, and this is {self.runtime()}: "
                "only the one that made it can wake it."
            )

    def _wake(self, ref: SnapshotRef, **changes: Any) -> None:
        """The saved machine under this one's name, with its own network, token and machine id."""
        self._check(ref)
        directory = Snapshots(self.host).directory(ref.id)
        saved = json.loads((directory / SAVED).read_text())
        image = {"image": ref.image, "image_digest": ref.image_digest, "image_root": ref.image_root}
        kept = Options.saved(saved["options"])
        limits = changes.get("limits", kept.limits).of_fork(kept.limits)
        self._claim(image, replace(kept, **{**changes, "limits": limits}), saved["token"], parent=ref.id)
        pid = self.runsc.restore(self.container, self.directory, self.container, directory / CHECKPOINT)
        self.handle = {**self.handle, "pid": pid}
        token = secrets.token_urlsafe(32)
        with self._urgent(), ThreadPoolExecutor(1) as pool:
            # The display wakes while the guest does: a machine is there when it answers and has shown its screen.
            shown = pool.submit(insist, self._look, BOOT_TIMEOUT)
            with self._opened() as guest:
                guest.rekey(token, machine_id=secrets.token_hex(16))
            self.first_frame = shown.result()
        self.handle = {**self.handle, "token": token}

    def _opened(self) -> Guest:
        """Ready. One that was saved while its token was being changed has another than was written down."""
        guest = self.guest()
        try:
            guest.wait_until_ready(BOOT_TIMEOUT)
        except Refused:
            inside = self.runsc_exec(["cat", TOKEN_FILE]).stdout.decode()
            self.handle = {**self.handle, "token": inside}
            guest = self.guest()
            guest.wait_until_ready(BOOT_TIMEOUT)
        return guest

    def root_shell(self) -> list[str]:
        flags = ("-cwd", "/root", "-env", f"TERM={TERM}")
        argv = self.runsc.exec_argv(self.container, *shells.SHELL, flags=flags)
        return shells.opening(self.directory, argv)

    def runsc_exec(self, argv: list[str]) -> subprocess.CompletedProcess[bytes]:
        """The slow way in, past the guest. Not while the machine is saved: what is woken then panics."""
        return subprocess.run(
            self.runsc.exec_argv(self.container, *argv), stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
