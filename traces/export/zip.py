"""The whole story, for another GodHand."""

from pathlib import Path
from typing import ClassVar

from ..bundle import BLOBS, EVENTS, BundleWriter, blob_name, encoded
from ..bundled import line_of
from ..payloads import Sha256
from .base import Exporter, Material, Progress, Size
from .naming import branch_names
from .trajectories import trajectory


class ZipExporter(Exporter):
    label: ClassVar[str] = "Bundle"
    about: ClassVar[str] = "Everything in one zip file that another GodHand can import, with ATIF for other programs."
    icon: ClassVar[str] = "archive"
    order: ClassVar[int] = 10
    suffix: ClassVar[str] = "zip"
    media_type: ClassVar[str] = "application/zip"

    @classmethod
    def estimate(cls, size: Size) -> int:
        return size.picture_bytes + size.other_bytes + 600 * size.steps

    def write(self, material: Material, out: Path, progress: Progress) -> None:
        wanted: dict[Sha256, None] = {}
        with BundleWriter(out, material.facts) as bundle:
            progress.expect(material.count(), "Writing events")
            with bundle.lines(EVENTS) as add:
                for event in material.events():
                    add(line_of(event))
                    wanted |= dict.fromkeys(material.named(event))
                    progress.advance()
            progress.expect(len(wanted), "Adding pictures and files")
            listed = []
            for sha256 in wanted:
                listed.append(bundle.blob(material.blob(sha256)))
                progress.advance()
            with bundle.lines(BLOBS) as add:
                for line in listed:
                    add(line)
            self._add_trajectories(bundle, material, progress)

    def _add_trajectories(self, bundle: BundleWriter, material: Material, progress: Progress) -> None:
        lanes = material.lanes()
        names = branch_names(lane.branch for lane in lanes)
        progress.expect(len(lanes), "Writing branches as ATIF")
        for lane in lanes:
            path = material.path(lane.branch)

            def picture(sha256: Sha256) -> tuple[str, str]:
                held = material.blob(sha256)
                return held.media_type, f"../{blob_name(sha256, held.media_type)}"

            bundle.text(f"atif/{names[lane.branch]}.json", encoded(trajectory(material.facts, lane, path, picture)))
            progress.advance()
