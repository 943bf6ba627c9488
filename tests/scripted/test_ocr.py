"""Reading a real desktop."""

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from agents import ocr
from sandboxes.actions import Click, Move
from sandboxes.backends.gvisor import GvisorSandbox
from sandboxes.display.desktop import Desktop
from sandboxes.display.screen import Box, Screen

from ..guest.waiting import eventually

TITLE = "Quarterly question"
ANSWER = "/tmp/scripted-answer"
DIALOG = (
    f"(zenity --question --width=460 --title='{TITLE}' --text='Shall 4,096 files be kept in Zürich?' "
    f"--ok-label='Press me' --cancel-label='Not now'; echo $? >{ANSWER}) >/dev/null 2>&1 &"
)


@pytest.fixture(scope="module")
def desktop(machine: GvisorSandbox) -> Iterator[Desktop]:
    with machine.desktop() as desktop:
        desktop.perform(Move(1000, 100))
        yield desktop


@pytest.fixture(scope="module")
def window(machine: GvisorSandbox, desktop: Desktop) -> Iterator[Box]:
    """Where the machine itself says that the dialog is. The last test that needs it closes it."""
    machine.exec(["rm", "-f", ANSWER])
    machine.exec(["bash", "-c", DIALOG])
    search = ["xdotool", "search", "--sync", "--onlyvisible", "--name", TITLE, "getwindowgeometry", "--shell", "%1"]
    found = machine.exec(search, timeout=60).stdout.decode()
    facts = dict(line.split("=", 1) for line in found.splitlines() if "=" in line)
    box = Box(*(int(facts[name]) for name in ("X", "Y", "WIDTH", "HEIGHT")))
    desktop.wait_until(lambda screen: ocr.contains(ocr.read(screen, box), "Press me") is not None, 60)
    yield box
    machine.exec(["pkill", "-x", "zenity"])
    eventually(lambda: not machine.exec(["pgrep", "-x", "zenity"]).stdout)


def middle(line: ocr.Line | None) -> tuple[int, int]:
    assert line is not None
    return line.box.x + line.box.width // 2, line.box.y + line.box.height // 2


@pytest.mark.parametrize(
    "text", ["Quarterly question", "Shall 4,096 files be kept in Zürich?", "files be kept", "press me", "Not now"]
)
def test_it_finds_text_in_the_window_that_has_it(desktop: Desktop, window: Box, text: str) -> None:
    lines = ocr.read(desktop.screenshot(), window)
    assert window.holds(*middle(ocr.contains(lines, text)))


def test_it_finds_the_panel_and_not_what_is_nowhere(desktop: Desktop, window: Box) -> None:
    lines = ocr.read(desktop.screenshot())
    assert middle(ocr.contains(lines, "Applications"))[1] > 760
    assert ocr.contains(lines, "Shall 4,097 files be kept in Zürich?") is None
    assert ocr.contains(lines, "No such words") is None


def test_it_knows_the_place_of_each_word(desktop: Desktop, window: Box) -> None:
    screen = desktop.screenshot()
    sentence = ocr.contains(ocr.read(screen), "Shall 4,096 files be kept in Zürich?")
    words = [ocr.contains(ocr.read(screen), word) for word in ("Shall", "4,096", "kept", "Zürich")]
    edges = [edge for word in words if word for edge in (word.box.x, word.box.x + word.box.width)]
    assert sentence
    assert len(edges) == 8
    assert edges == sorted(edges)
    assert sentence.box.x <= edges[0]
    assert edges[-1] <= sentence.box.x + sentence.box.width


def test_it_reads_a_region_as_part_of_the_screen(desktop: Desktop, window: Box) -> None:
    screen = desktop.screenshot()
    whole, part = (ocr.contains(ocr.read(screen, region), "Not now") for region in (None, window))
    assert np.abs(np.subtract(middle(whole), middle(part))).max() <= 3
    corner = Box(0, 0, 100, 100)
    assert ocr.contains(ocr.read(screen, corner), "Not now") is None
    with pytest.raises(ValueError, match="does not fit"):
        ocr.read(screen, Box(1200, 700, 100, 200))


def test_it_is_a_place_to_click_on(machine: GvisorSandbox, desktop: Desktop, window: Box) -> None:
    desktop.perform(Click(*middle(ocr.contains(ocr.read(desktop.screenshot()), "Press me"))))
    eventually(lambda: machine.exec(["cat", ANSWER]).stdout == b"0\n", 30)


def test_it_reads_the_same_screen_only_once(desktop: Desktop) -> None:
    screen = desktop.screenshot()
    same = Screen(screen.rgbx.copy())
    changed = Screen.from_rgb(255 - screen.pixels)
    first, again, other = (ocr.read(one)[0] for one in (screen, same, changed))
    assert first is again
    assert first is not other


def test_it_reads_nothing_where_there_is_nothing() -> None:
    for size in ((800, 1280), (5, 5), (1, 900)):
        assert ocr.read(Screen.from_rgb(np.full((*size, 3), 200, np.uint8))) == []


WITHOUT = """
import sys
import numpy as np
sys.modules["rapidocr"] = None
from agents import ocr
from sandboxes.display.screen import Screen
from sandboxes.errors import Unavailable
try:
    ocr.read(Screen.from_rgb(np.zeros((50, 50, 3), np.uint8)))
except Unavailable as error:
    print(error)
"""


def test_it_names_the_package_that_is_missing() -> None:
    told = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True).stdout
    assert "the Python package rapidocr is missing" in told
    assert "./godhand up" in told
