"""OSWorld's files: a line per action, a PNG each, and what came of it."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from traces.blobs import BlobStore
from traces.export.base import Silent
from traces.export.osworld import OsworldExporter
from traces.export.pyautogui import code_of
from traces.material import StoredMaterial
from traces.models import Trace

from .conftest import RecorderOf
from .stories import screen, tell

FIELDS = {"step_num", "action_timestamp", "action", "response", "reward", "done", "info", "screenshot_file"}


@pytest.fixture
def files(trace: Trace, recorder_of: RecorderOf, store: BlobStore, tmp_path: Path) -> dict[str, bytes]:
    tell(recorder_of)
    OsworldExporter().write(StoredMaterial(trace, store=store), tmp_path / "a.zip", Silent())
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_it_writes_a_line_and_a_picture_per_action(files: dict[str, bytes]) -> None:
    lines = [json.loads(line) for line in files["b1/traj.jsonl"].splitlines()]
    assert [line["step_num"] for line in lines] == [1, 2, 3]
    assert all(line.keys() == FIELDS for line in lines)
    assert [line["action"] for line in lines] == [
        "pyautogui.click(40, 50)",
        "pyautogui.write('=SUM(A1:A9)')",
        "pyautogui.hotkey('ctrl', 's')",
    ]
    assert lines[0]["response"] == "It is the button.\n\nI click."
    assert [(line["done"], line["reward"]) for line in lines] == [(False, 0.0), (False, 0.0), (True, 1.0)]
    shown = Image.open(io.BytesIO(files[f"b1/{lines[0]['screenshot_file']}"]))
    was = Image.open(io.BytesIO(screen(2)))
    assert shown.format == "PNG"
    assert ImageChops.difference(shown, was).getbbox() is None


def test_it_writes_what_came_of_each_branch(files: dict[str, bytes]) -> None:
    assert (files["main/result.txt"], files["b1/result.txt"]) == (b"0.0\n", b"1.0\n")


@pytest.mark.parametrize(
    ("act", "code"),
    [
        (
            {"action": "Click", "x": 1, "y": 2, "button": 3, "count": 2},
            "pyautogui.click(1, 2, clicks=2, button='right')",
        ),
        (
            {"action": "Click", "x": 1, "y": 2, "holding": "ctrl"},
            "pyautogui.keyDown('ctrl'); pyautogui.click(1, 2); pyautogui.keyUp('ctrl')",
        ),
        ({"action": "Scroll", "x": 5, "y": 6, "down": 3}, "pyautogui.scroll(-3, 5, 6)"),
        (
            {"action": "Drag", "x": 1, "y": 2, "to_x": 3, "to_y": 4, "via": [[9, 9]]},
            "pyautogui.moveTo(1, 2); pyautogui.mouseDown(); pyautogui.moveTo(9, 9); pyautogui.moveTo(3, 4); "
            "pyautogui.mouseUp()",
        ),
        ({"action": "Key", "chord": "Return", "repeat": 2}, "pyautogui.hotkey('enter'); pyautogui.hotkey('enter')"),
        ({"action": "Type", "text": "it's\n"}, 'pyautogui.write("it\'s\\n")'),
        ({"action": "Wait", "seconds": 1.5}, "time.sleep(1.5)"),
        ({}, ""),
    ],
)
def test_it_writes_actions_as_code(act: dict[str, object], code: str) -> None:
    assert code_of(act) == code
