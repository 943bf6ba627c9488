from pathlib import Path

import numpy as np
import pytest

from agents.checkers.references import BadReference, accept_reference, load_reference
from agents.errors import BadTask
from sandboxes.display.screen import Box

from .scenes import drawn, stripes

BLUE = (0, 0, 255)


def test_it_keeps_a_screen_as_it_was(tmp_path: Path) -> None:
    screen = stripes((10, 10), (3, 5, 2), BLUE)
    accept_reference(tmp_path, "blue-1", screen, Box(5, 5, 40, 30), [Box(6, 6, 2, 2)])
    reference = load_reference(tmp_path, "blue-1")
    assert np.array_equal(reference.screen.pixels, screen.pixels)
    assert (reference.region, reference.excluded) == (Box(5, 5, 40, 30), (Box(6, 6, 2, 2),))


def test_it_replaces_one_and_leaves_the_others(tmp_path: Path) -> None:
    for name in ("a", "a-b", "b"):
        accept_reference(tmp_path, name, drawn())
    accept_reference(tmp_path, "a", drawn((Box(0, 0, 9, 9), BLUE)))
    assert tuple(load_reference(tmp_path, "a").screen.pixels[0, 0]) == BLUE
    assert tuple(load_reference(tmp_path, "a-b").screen.pixels[0, 0]) == (200, 200, 200)
    assert len(list(tmp_path.iterdir())) == 6


@pytest.mark.parametrize("name", ["", ".", "..", "../up", "a/b", "/etc/passwd", "a\0", "a\n", "A", "a.json", "x" * 65])
def test_it_refuses_names_that_are_paths(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadTask, match="reference: must be"):
        accept_reference(tmp_path / "store", name, drawn())
    with pytest.raises(BadTask, match="reference: must be"):
        load_reference(tmp_path, name)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("region", [Box(0, 0, 0, 0), Box(300, 0, 100, 100), Box(-1, 0, 5, 5)])
def test_it_refuses_a_region_that_is_not_on_the_screen(tmp_path: Path, region: Box) -> None:
    with pytest.raises(BadTask, match="region"):
        accept_reference(tmp_path, "a", drawn(), region)


def test_it_names_one_that_was_never_accepted(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="never-seen"):
        load_reference(tmp_path, "never-seen")


@pytest.mark.parametrize(
    "facts",
    [
        "", "[]", "{}", '{"picture": "../../etc/passwd", "region": [0,0,1,1], "excluded": []}',
        '{"picture": "b.png", "region": [0,0,1,1], "excluded": []}',
        '{"picture": "a.png", "region": [0,0,1,1], "excluded": []}',
        '{"picture": "a.png", "region": "all", "excluded": []}',
    ],
)  # fmt: skip
def test_it_cannot_read_what_is_broken(tmp_path: Path, facts: str) -> None:
    (tmp_path / "a.json").write_text(facts)
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    with pytest.raises(BadReference, match="accept a screen anew"):
        load_reference(tmp_path, "a")


def test_it_misses_a_picture_that_has_gone(tmp_path: Path) -> None:
    accept_reference(tmp_path, "a", drawn())
    next(tmp_path.glob("*.png")).unlink()
    with pytest.raises(FileNotFoundError):
        load_reference(tmp_path, "a")
