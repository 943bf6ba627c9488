"""ATIF, which other programs read: one trajectory for each branch, and the pictures beside them."""

import json
import zipfile
from pathlib import Path
from typing import ClassVar

from ..blobs import SUFFIXES
from ..payloads import Sha256
from .base import Exporter, Material, Progress, Size
from .naming import branch_names
from .trajectories import trajectory


class AtifExporter(Exporter):
    label: ClassVar[str] = "ATIF"
    about: ClassVar[str] = "Agent Trajectory Interchange Format v1.7: a JSON file for each branch, and the pictures."
    icon: ClassVar[str] = "code-xml"
    order: ClassVar[int] = 40
    suffix: ClassVar[str] = "atif.zip"
    media_type: ClassVar[str] = "application/zip"

    @classmethod
    def estimate(cls, size: Size) -> int:
        return size.picture_bytes + 300 * size.steps

    def write(self, material: Material, out: Path, progress: Progress) -> None:
        lanes = material.lanes()
        names = branch_names(lane.branch for lane in lanes)
        wanted: dict[Sha256, str] = {}

        def picture(sha256: Sha256) -> tuple[str, str]:
            media_type = material.blob(sha256).media_type
            wanted[sha256] = f"images/{sha256}.{SUFFIXES[media_type]}"
            return media_type, wanted[sha256]

        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            progress.expect(len(lanes), "Writing branches")
            for lane in lanes:
                data = trajectory(material.facts, lane, material.path(lane.branch), picture)
                archive.writestr(f"{names[lane.branch]}.json", json.dumps(data, indent=1))
                progress.advance()
            progress.expect(len(wanted), "Adding pictures")
            for sha256, name in wanted.items():
                archive.writestr(zipfile.ZipInfo(name), material.blob(sha256).read(), zipfile.ZIP_STORED)
                progress.advance()
