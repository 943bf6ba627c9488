import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from agents.coords import Frame, PictureLimits, Space
from agents.errors import BadCall
from agents.providers import registry
from sandboxes.display.screen import Screen

LIMITS = [
    PictureLimits(2576, patch=28, max_patches=4784),
    PictureLimits(1568, max_pixels=1_150_000),
    PictureLimits(4096, multiple=28, media_type="image/png"),
    PictureLimits(8192),
]
SIZES = st.tuples(st.integers(320, 2560), st.integers(240, 1600))
FRAMES = st.builds(Frame.fit, SIZES, st.sampled_from(LIMITS), st.sampled_from(Space))


@given(frame=FRAMES, data=st.data())
def test_it_lands_within_a_pixel_after_the_round_trip(frame: Frame, data: st.DataObject) -> None:
    """Of the screen, or of the model's own steps where those are coarser."""
    x, y = (data.draw(st.integers(0, side - 1)) for side in frame.screen)
    back = frame.to_pixels(*frame.to_model(x, y))
    parts = frame.size if frame.space is Space.PIXELS else (1000, 1000)
    for pixel, again, screen, part in zip((x, y), back, frame.screen, parts, strict=True):
        assert abs(pixel - again) <= max(1, screen / part / 2 + 0.5)


@given(frame=FRAMES, data=st.data())
def test_it_names_every_point_of_the_model_with_a_pixel_of_the_screen(frame: Frame, data: st.DataObject) -> None:
    most = [frame._most(axis) for axis in (0, 1)]
    x, y = frame.to_pixels(*(data.draw(st.integers(0, side)) for side in most))
    assert 0 <= x < frame.screen[0]
    assert 0 <= y < frame.screen[1]


@pytest.mark.parametrize("space", Space)
@pytest.mark.parametrize("limits", LIMITS)
def test_it_clicks_within_a_pixel_on_our_own_desktop(space: Space, limits: PictureLimits) -> None:
    frame = Frame.fit((1280, 800), limits, space)
    for x in range(1280):
        y = x * 799 // 1279
        again = frame.to_pixels(*frame.to_model(x, y))
        assert max(abs(again[0] - x), abs(again[1] - y)) <= 1


@given(screen=SIZES, limits=st.sampled_from(LIMITS))
def test_it_fits_what_the_service_accepts(screen: tuple[int, int], limits: PictureLimits) -> None:
    frame = Frame.fit(screen, limits)
    assert limits.allow(*frame.size)
    assert all(side % limits.multiple == 0 for side in frame.size)
    assert all(side <= max(native, limits.multiple) for side, native in zip(frame.size, screen, strict=True))


@settings(max_examples=10, deadline=None)
@given(limits=st.sampled_from(LIMITS), screen=SIZES)
def test_it_sends_pictures_of_exactly_the_size_of_the_frame(limits: PictureLimits, screen: tuple[int, int]) -> None:
    frame = Frame.fit(screen, limits)
    picture = frame.picture(Screen.from_rgb(np.zeros((screen[1], screen[0], 3), np.uint8)))
    assert Image.open(io.BytesIO(picture.data)).size == frame.size == (picture.width, picture.height)
    assert Image.MIME[Image.open(io.BytesIO(picture.data)).format or ""] == limits.media_type


@pytest.mark.parametrize(
    "point", [(-1, 0), (0, 800), (1280, 0), (float("nan"), 0), (float("inf"), 0), ("1", 2), (True, 0)]
)
def test_it_refuses_what_is_no_point(point: tuple[float, float]) -> None:
    with pytest.raises(BadCall, match="must be a number from 0 to"):
        Frame((1280, 800), (1280, 800)).to_pixels(*point)


def test_it_takes_the_whole_screen_as_a_region_and_refuses_an_empty_one() -> None:
    frame = Frame((2560, 1600), (1280, 800))
    assert tuple(frame.box_to_pixels(0, 0, 1280, 800)) == (0, 0, 2560, 1600)
    with pytest.raises(BadCall, match="empty"):
        frame.box_to_pixels(10, 10, 10, 20)


def test_it_knows_a_frame_for_every_provider() -> None:
    for kind in registry.kinds().values():
        assert kind.label
