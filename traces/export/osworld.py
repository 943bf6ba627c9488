"""The files that OSWorld writes for a run, which its viewers and judges read: a folder for each branch."""

import io
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from PIL import Image

from ..events import Kind, Recorded
from ..payloads import Json
from ..steps import Step, steps_of
from .base import Exporter, Facts, Material, Progress, Size
from .naming import branch_names
from .pyautogui import code_of

PNG_FACTOR = 2.5
"""PNG for WebP without loss, on screens."""


class OsworldExporter(Exporter):
    label: ClassVar[str] = "OSWorld"
    about: ClassVar[str] = "traj.jsonl, result.txt and PNG screenshots for each branch, as OSWorld writes them."
    icon: ClassVar[str] = "list-checks"
    order: ClassVar[int] = 50
    suffix: ClassVar[str] = "osworld.zip"
    media_type: ClassVar[str] = "application/zip"

    @classmethod
    def estimate(cls, size: Size) -> int:
        return int(PNG_FACTOR * size.picture_bytes) + 300 * size.steps

    def write(self, material: Material, out: Path, progress: Progress) -> None:
        lanes = material.lanes()
        names = branch_names(lane.branch for lane in lanes)
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for lane in lanes:
                path = material.path(lane.branch)
                steps = [step for step in steps_of(path) if step.kind == Kind.ACTION]
                progress.expect(len(steps), f"Writing {lane.branch}")
                result = _result(path, material.facts)
                self._write_branch(archive, names[lane.branch], steps, result, material, progress)

    def _write_branch(
        self,
        archive: zipfile.ZipFile,
        folder: str,
        steps: Sequence[Step],
        result: float,
        material: Material,
        progress: Progress,
    ) -> None:
        lines = []
        for number, step in enumerate(steps, 1):
            line = _line(number, step, result, last=number == len(steps))
            lines.append(json.dumps(line))
            if step.after:
                png = _png(material.blob(step.after).read())
                archive.writestr(zipfile.ZipInfo(f"{folder}/{line['screenshot_file']}"), png, zipfile.ZIP_STORED)
            progress.advance()
        archive.writestr(f"{folder}/traj.jsonl", "".join(f"{line}\n" for line in lines))
        archive.writestr(f"{folder}/result.txt", f"{result}\n")


def _result(path: Sequence[Recorded], facts: Facts) -> float:
    """What the last checks said; without any, whether the run succeeded."""
    verdicts = [event.ok for event in path if event.kind == Kind.VERIFY]
    return float(bool(verdicts[-1]) if verdicts else facts.state == "succeeded")


def _line(number: int, step: Step, result: float, *, last: bool) -> Json:
    stamp = f"{step.at:%Y%m%d@%H%M%S%f}" if step.at else "0"
    event = step.event
    return {
        "step_num": number,
        "action_timestamp": stamp,
        "action": code_of(event.act or {}) or {"tool": event.name, "input": event.data["input"]},
        "response": "\n\n".join(filter(None, (step.thought, step.said))),
        "reward": result if last else 0.0,
        "done": last,
        "info": {"sentence": step.sentence, "fate": event.fate.value, "ok": event.ok},
        "screenshot_file": f"step_{number}_{stamp}.png" if step.after else "",
    }


def _png(data: bytes) -> bytes:
    out = io.BytesIO()
    with Image.open(io.BytesIO(data)) as picture:
        picture.save(out, "png")
    return out.getvalue()
