import time
from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sandboxes.display.diff import FEW, Bits, diff, same
from sandboxes.display.screen import Box, Screen

WIDTH, HEIGHT = 200, 150
BOXES = st.builds(
    Box, st.integers(0, WIDTH - 1), st.integers(0, HEIGHT - 1), st.integers(1, WIDTH), st.integers(1, HEIGHT)
)


def blank(width: int = WIDTH, height: int = HEIGHT) -> Screen:
    return Screen(np.zeros((height, width, 4), np.uint8))


def painted(boxes: list[Box]) -> Screen:
    screen = blank()
    for place, box in enumerate(boxes):
        screen.pixels[box.y : box.y + box.height, box.x : box.x + box.width, place % 3] += 1
    return screen


def mask(boxes: list[Box]) -> Bits:
    return np.asarray(painted(boxes).pixels.any(axis=2))


def differs_anywhere(before: Screen, after: Screen) -> Bits:
    return np.asarray((before.pixels != after.pixels).any(axis=2))


@given(st.lists(BOXES, max_size=30), st.lists(BOXES, max_size=2))
def test_it_covers_what_changed_and_nothing_ignored(changes: list[Box], ignore: list[Box]) -> None:
    before, after = blank(), painted(changes)
    expected = differs_anywhere(before, after) & ~mask(ignore)
    found = diff(before, after, ignore)
    assert found.ratio == expected.mean()
    assert not (expected & ~mask(found.boxes)).any()
    assert len(found.boxes) <= FEW
    assert bool(found.boxes) == bool(expected.any())


@given(BOXES)
def test_it_finds_one_change_exactly(box: Box) -> None:
    on_screen = Box(box.x, box.y, min(box.width, WIDTH - box.x), min(box.height, HEIGHT - box.y))
    assert diff(blank(), painted([box])).boxes == [on_screen]


@given(st.lists(BOXES, max_size=30))
def test_it_gives_boxes_that_do_not_overlap(changes: list[Box]) -> None:
    boxes = diff(blank(), painted(changes)).boxes
    assert sum(box.area for box in boxes) == mask(boxes).sum()


def test_it_keeps_changes_that_are_far_apart_apart() -> None:
    here, there = Box(3, 4, 5, 6), Box(150, 120, 20, 10)
    assert diff(blank(), painted([here, there])).boxes == [here, there]


def test_it_does_not_compare_the_byte_without_meaning() -> None:
    other = blank()
    other.rgbx[..., 3] = 255
    assert diff(blank(), other).ratio == 0


def test_it_says_that_screens_of_two_sizes_differ_everywhere() -> None:
    found = diff(blank(), blank(50, 40))
    assert (found.ratio, found.boxes) == (1.0, [Box(0, 0, 50, 40)])


def test_it_is_quicker_than_to_ask_numpy_about_every_pixel() -> None:
    rng = np.random.default_rng(1)
    noise = Screen(rng.integers(0, 255, (800, 1280, 4), np.uint8))
    sparse = blank(1280, 800)
    sparse.pixels[::97, ::101] = 9

    def seconds(look: Callable[[Screen, Screen], object], after: Screen) -> float:
        began = time.perf_counter()
        look(blank(1280, 800), after)
        return time.perf_counter() - began

    for after in (noise, sparse):
        found, bare = (min(seconds(look, after) for _ in range(20)) for look in (diff, differs_anywhere))
        assert found < bare


@given(st.lists(BOXES, max_size=2))
def test_it_knows_the_same_screen_again(changes: list[Box]) -> None:
    other = painted(changes)
    other.rgbx[..., 3] = 7
    assert same(blank(), other) == (diff(blank(), other).ratio == 0)
    assert not same(blank(), blank(WIDTH + 1))
