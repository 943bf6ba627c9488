from pathlib import Path

import numpy as np
import pytest

from agents.checkers.base import Finding, Outcome
from agents.checkers.references import accept_reference
from sandboxes.display.screen import Box, Screen

from .scenes import HEIGHT, WIDTH, Still, checker, drawn, passed, stripes

WORD, OTHER_WORD = (4, 9, 2, 7, 5), (7, 2, 9, 4, 5)
AT = (100, 80)
AROUND = Box(90, 70, 60, 40)


def look(store: Path, now: Screen, **options: object) -> Finding:
    return checker("screen_region", reference="word", **options).check(Still(now, store=store))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    accept_reference(tmp_path, "word", stripes(AT, WORD), AROUND)
    return tmp_path


def test_it_finds_what_has_not_changed(store: Path) -> None:
    finding = look(store, stripes(AT, WORD))
    assert (finding.outcome, finding.similarity, finding.region) == (Outcome.PASSED, 1.0, AROUND)


def test_it_is_not_fooled_by_a_large_background(store: Path) -> None:
    large = Box(50, 20, 160, 120)
    accept_reference(store, "word", stripes(AT, WORD), large)
    parts = [stripes(AT, word).crop(*large).pixels for word in (WORD, OTHER_WORD)]
    assert np.mean(parts[0] == parts[1]) > 0.98
    assert not passed(look(store, stripes(AT, OTHER_WORD), match=80))


def test_it_sees_another_colour(store: Path) -> None:
    assert not passed(look(store, stripes(AT, WORD, colour=(120, 0, 0))))


def test_it_overlooks_what_no_eye_sees(store: Path) -> None:
    assert passed(look(store, stripes(AT, WORD, colour=(10, 10, 10))))


@pytest.mark.parametrize(("dx", "dy"), [(12, -7), (-20, 20), (20, 0), (0, 1)])
def test_it_finds_what_has_moved_within_the_margin(store: Path, dx: int, dy: int) -> None:
    finding = look(store, stripes((AT[0] + dx, AT[1] + dy), WORD), margin=20)
    assert passed(finding)
    assert finding.region == AROUND._replace(x=AROUND.x + dx, y=AROUND.y + dy)
    assert f"{dx:+d}, {dy:+d} pixels away" in finding.actual


def test_it_does_not_find_what_has_moved_further(store: Path) -> None:
    finding = look(store, stripes((AT[0] + 21, AT[1]), WORD), margin=20)
    assert not passed(finding)
    assert finding.similarity is not None
    assert finding.similarity < 0.95


def test_it_finds_the_best_of_two_places(store: Path) -> None:
    now = stripes(AT, OTHER_WORD).pixels.copy()
    now[120:140] = stripes((60, 120), WORD).pixels[120:140]
    finding = look(store, Screen.from_rgb(now), margin=100)
    assert finding.region == Box(50, 110, 60, 40)


@pytest.mark.parametrize("corner", [(0, 0), (WIDTH - 60, HEIGHT - 40)])
def test_it_looks_no_further_than_the_edge(tmp_path: Path, corner: tuple[int, int]) -> None:
    at = corner[0] + 10, corner[1] + 10
    accept_reference(tmp_path, "word", stripes(at, WORD), Box(*corner, 60, 40))
    assert passed(look(tmp_path, stripes(at, WORD), margin=500))
    assert not passed(look(tmp_path, stripes(at, OTHER_WORD), margin=500))


def test_it_excludes_areas_of_the_picture_and_of_the_check(tmp_path: Path) -> None:
    clock, advert = Box(92, 72, 5, 5), Box(136, 96, 12, 12)
    accept_reference(tmp_path, "word", stripes(AT, WORD), AROUND, [clock])
    now = stripes(AT, WORD).pixels.copy()
    now[72:77, 92:97] = now[96:108, 136:148] = 0
    assert not passed(look(tmp_path, Screen.from_rgb(now)))
    finding = look(tmp_path, Screen.from_rgb(now), excluded=[list(advert)])
    assert (finding.outcome, finding.similarity) == (Outcome.PASSED, 1.0)


def test_it_takes_a_part_of_the_picture(store: Path) -> None:
    now = stripes(AT, WORD).pixels.copy()
    now[:70] = 0
    assert passed(look(store, Screen.from_rgb(now)))
    assert not passed(look(store, Screen.from_rgb(now), region=[0, 0, WIDTH, HEIGHT]))


def test_it_compares_areas_of_one_colour(tmp_path: Path) -> None:
    accept_reference(tmp_path, "word", drawn(), AROUND)
    assert passed(look(tmp_path, drawn((Box(95, 80, 1, 4), (0, 0, 0))), match=80))
    assert not passed(look(tmp_path, drawn((Box(0, 0, WIDTH, HEIGHT), (90, 90, 90)))))


def test_it_cannot_compare_with_a_picture_that_is_not_there(tmp_path: Path) -> None:
    finding = look(tmp_path, drawn())
    assert finding.outcome is Outcome.ERRORED
    assert "accept a screen first" in finding.detail


def test_it_cannot_compare_when_nothing_is_left(store: Path) -> None:
    assert "leave nothing" in look(store, drawn(), excluded=[[0, 0, WIDTH, HEIGHT]]).detail


def test_it_cannot_compare_with_a_smaller_screen(store: Path) -> None:
    small = Screen.from_rgb(np.zeros((50, 50, 3), np.uint8))
    finding = look(store, small, margin=10)
    assert (finding.outcome, finding.similarity) == (Outcome.ERRORED, None)
    assert "50×50" in finding.detail


def test_it_cannot_compare_a_part_that_the_picture_has_not(store: Path) -> None:
    assert look(store, drawn(), region=[300, 0, 100, 100]).outcome is Outcome.ERRORED
