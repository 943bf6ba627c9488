"""Built images: `<images>/<name>/<digest prefix>/{rootfs,manifest.json}`, and a `current` link to one."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import NotBuilt
from ..host import here

BUILD_LOG = "build.log"
CURRENT = "current"
HOLDS = "holds"
MANIFEST = "manifest.json"
ROOTFS = "rootfs"


@dataclass(frozen=True)
class Image:
    name: str
    digest: str
    root: Path
    manifest: Mapping[str, Any]

    @property
    def size(self) -> int:
        """Bytes of all files, as they were when the image was built."""
        return int(self.manifest["size"])

    @property
    def current_for(self) -> float:
        """Seconds since machines are made of it; none once they are not."""
        link = self.root.parent.parent / CURRENT
        return time.time() - link.lstat().st_mtime if link.is_symlink() else 0


def find(name: str) -> Image:
    """The image machines are made of now. Raises NotBuilt."""
    not_built = NotBuilt(f"The image “{name}” is not built on this host; run ./godhand image build {name}.")
    if not name or "/" in name or name.startswith("."):
        raise not_built
    # Resolved once: a build that switches the link later must not change a running machine's root.
    directory = (here().images / name / CURRENT).resolve()
    try:
        manifest = json.loads((directory / MANIFEST).read_text())
    except (OSError, ValueError):
        raise not_built from None
    return Image(name, str(manifest["digest"]), directory / ROOTFS, manifest)


def built() -> list[Image]:
    if not here().images.is_dir():
        return []
    found = []
    for link in sorted(here().images.glob(f"*/{CURRENT}")):
        try:
            found.append(find(link.parent.name))
        except NotBuilt:
            continue
    return found
