"""Which machine has which addresses and policy, in files that root writes and the resolver reads.

Machines without any way out have no record. Whoever changes a record or the firewall holds the lock.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from ..host import Host
from .policy import Policy

LINK_PREFIX = "ghv"


@dataclass(frozen=True)
class Record:
    id: str
    host_address: str
    address: str
    policy: Policy

    @property
    def interface(self) -> str:
        return f"{LINK_PREFIX}{self.id}"

    @property
    def mark(self) -> str:
        """Tells this machine's connections from those of an earlier one that had the same address."""
        return f"0x{sha256(self.id.encode()).hexdigest()[:8]}"


def directory(host: Host) -> Path:
    return host.home / "links"


@contextmanager
def locked(host: Host) -> Iterator[None]:
    """Between processes; shared by root and the resolver, which may not write here."""
    directory(host).mkdir(parents=True, exist_ok=True)
    descriptor = os.open(directory(host), os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write(host: Host, record: Record) -> None:
    with locked(host):
        directory(host).chmod(0o755)
        path = directory(host) / f".{record.id}"
        path.write_text(json.dumps(asdict(record)))
        path.chmod(0o644)
        path.rename(directory(host) / f"{record.id}.json")


def remove(host: Host, machine_id: str) -> None:
    (directory(host) / f"{machine_id}.json").unlink(missing_ok=True)


def ids(host: Host) -> set[str]:
    return {path.stem for path in directory(host).glob("[!.]*.json")}


def all_records(host: Host) -> list[Record]:
    found = []
    for machine_id in sorted(ids(host)):
        with suppress(FileNotFoundError):
            facts = json.loads((directory(host) / f"{machine_id}.json").read_text())
            found.append(Record(**{**facts, "policy": Policy(**facts["policy"])}))
    return found
