"""This installation's place on its host: one directory for all data, and one short name for all that it makes."""

import hashlib
import os
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Network
from pathlib import Path

from . import env


@dataclass(frozen=True)
class Host:
    home: Path
    images: Path
    subnet: IPv4Network
    reserve: int = 0
    """Bytes that snapshots leave free, so that the database and traces can still be written."""

    @property
    def instance(self) -> str:
        """Keeps what two installations on one host have made apart."""
        return hashlib.sha256(str(self.home).encode()).hexdigest()[:4]

    @property
    def machines(self) -> Path:
        return self.home / "machines"

    @property
    def run(self) -> Path:
        return self.home / "run"

    @property
    def own(self) -> Path:
        """For whoever started GodHand: services neither read nor write here."""
        return self.home / "own"

    @property
    def logs(self) -> Path:
        return self.home / "logs"

    @property
    def tools(self) -> Path:
        return self.home / "tools"


def default_home() -> Path:
    if os.geteuid() == 0:
        return Path("/var/lib/godhand")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local/share") / "godhand"


@cache
def here() -> Host:
    home = env.directory("GODHAND_HOME", default_home())
    return Host(
        home=home,
        images=env.directory("GODHAND_IMAGES", home / "images"),
        subnet=env.network("GODHAND_SUBNET", "10.213.0.0/16", longest_prefix=24),
        reserve=env.integer("GODHAND_RESERVE_MIB", 1024, 0, 1 << 20) << 20,
    )
