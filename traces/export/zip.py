"""The whole story, for another GodHand."""

from pathlib import Path
from typing import ClassVar

from ..bundle import BLOBS, EVENTS, PAGE, BundleWriter, blob_name, encoded
from ..bundled import line_of
from ..payloads import Sha256
from .base import Exporter, Material, Progress, Size
from .html import FRAME
from .html_small import SmallHtmlExporter
from .naming import branch_names
from .trajectories import trajectory

ZIPPED_FRAME = 230_000


class ZipExporter(Exporter):
    label: ClassVar[str] = "Bundle"
    about: ClassVar[str] = (
        "Everything in one zip file that another GodHand can import, with a page for any browser and ATIF for programs."
    )
    icon: ClassVar[str] = "archive"
    order: ClassVar[int] = 10
    suffix: ClassVar[str] = "zip"
    media_type: ClassVar[str] = "application/zip"

    @classmethod
    def estimate(cls, size: Size) -> int:
        inside = SmallHtmlExporter.estimate(size) - FRAME
        page = ZIPPED_FRAME + inside * 3 // 4 if SmallHtmlExporter.holds(size.steps) else 0
        return size.picture_bytes + size.other_bytes + 600 * size.steps + page

    def write(self, material: Material, out: Path, progress: Progress) -> None:
        wanted: dict[Sha256, None] = {}
        steps = 0
        with BundleWriter(out, material.facts) as bundle:
            progress.expect(material.count(), "Writing events")
            with bundle.lines(EVENTS) as add:
                for event in material.events():
                    add(line_of(event))
                    steps += event.name != "reply"
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
            if SmallHtmlExporter.holds(steps):
                with bundle.page(PAGE) as page:
                    material.write_page(page, progress, small=True)

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
