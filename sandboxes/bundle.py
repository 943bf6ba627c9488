"""The OCI bundle of a gVisor machine: what its kernel is told about disk, mounts, rights and network."""

import json
import os
from pathlib import Path
from typing import Any

from .limits import Limits, resources, rlimits, tmpfs_sizes
from .network import namespace_path

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# CAP_SYS_ADMIN is for init, which mounts /proc and gives it up before it starts anything.
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
    "CAP_SYS_ADMIN",
    "CAP_SYS_CHROOT",
    "CAP_AUDIT_WRITE",
]
MOUNTS = (
    ("/proc", "proc", ()),
    ("/dev", "tmpfs", ("nosuid", "mode=755")),
    ("/dev/pts", "devpts", ("newinstance", "ptmxmode=0666", "mode=0620", "gid=5")),
    ("/dev/shm", "tmpfs", ("mode=1777",)),
    ("/tmp", "tmpfs", ("mode=1777",)),
    ("/run", "tmpfs", ("mode=755",)),
    ("/sys", "sysfs", ("ro",)),
)


def config(root: Path, namespace: str, token: str, hostname: str, limits: Limits) -> dict[str, Any]:
    """The namespace lends its name to the control group."""
    sizes = tmpfs_sizes(limits)
    kinds = ("pid", "ipc", "uts", "mount")
    return {
        "ociVersion": "1.0.2",
        "root": {"path": str(root)},
        "hostname": hostname,
        "process": {
            "args": ["/opt/godhand/init"],
            "cwd": "/",
            "user": {"uid": 0, "gid": 0},
            "env": [f"PATH={PATH}", "HOME=/root", "LANG=C.UTF-8", f"GODHAND_TOKEN={token}"],
            "capabilities": dict.fromkeys(("bounding", "effective", "permitted"), CAPABILITIES),
            "rlimits": rlimits(limits),
        },
        "mounts": [
            {"destination": path, "type": kind, "source": kind, "options": [*options, *sizes.get(path, "").split()]}
            for path, kind, options in MOUNTS
        ],
        "linux": {
            "cgroupsPath": f"/{namespace}",
            "resources": resources(limits),
            "namespaces": [
                *({"type": kind} for kind in kinds),
                {"type": "network", "path": str(namespace_path(namespace))},
            ],
        },
    }


def write_private(path: Path, content: dict[str, Any]) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(content, file)
