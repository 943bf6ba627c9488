import io

import numpy as np
import pytest
from PIL import Image

from sandboxes.display.screen import Box, Format, Screen


def gradient(width: int = 64, height: int = 48) -> Screen:
    rows, columns = np.mgrid[0:height, 0:width]
    return Screen.from_rgb(np.dstack([columns * 4, rows * 5, columns * 0 + 90]).astype(np.uint8), (10, 20))


@pytest.mark.parametrize("kind", ["jpeg", "png", "webp", "webp-lossless"])
def test_it_encodes_what_it_shows(kind: Format) -> None:
    screen = gradient()
    decoded = Image.open(io.BytesIO(screen.encode(kind, quality=95)))
    assert decoded.format == kind.upper().removesuffix("-LOSSLESS")
    assert decoded.mode == "RGB"
    error = np.abs(np.asarray(decoded).astype(int) - screen.pixels)
    assert error.mean() < (0.01 if kind in ("png", "webp-lossless") else 4)


def test_it_crops_with_the_cursor() -> None:
    part = gradient().crop(8, 16, 4, 6)
    assert part.size == (4, 6)
    assert part.cursor == (2, 4)
    assert part.pixels[0, 0].tolist() == [32, 80, 90]
    assert gradient().crop(30, 30, 4, 4).cursor is None
    assert len(part.encode("png")) > 0


@pytest.mark.parametrize("box", [(0, 0, 65, 1), (-1, 0, 4, 4), (0, 0, 0, 4), (60, 40, 5, 5)])
def test_it_refuses_a_crop_that_does_not_fit(box: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="64×48"):
        gradient().crop(*box)


def test_it_zooms_without_stretching() -> None:
    screen = gradient()
    larger = screen.zoom(Box(8, 16, 16, 8), (128, 128))
    assert larger.size == (128, 64)
    assert larger.cursor == (16, 32)
    assert np.abs(larger.pixels[32, 64].astype(int) - screen.pixels[20, 16]).max() < 6
    assert screen.zoom(Box(0, 0, 64, 48), (16, 100)).size == (16, 12)
    assert screen.zoom(Box(0, 0, 64, 1), (16, 16)).size == (16, 1)


def test_it_makes_thumbnails_that_are_never_larger() -> None:
    screen = gradient()
    assert screen.thumbnail(32).size == (32, 24)
    assert screen.thumbnail(999).size == (64, 48)
    assert gradient(1280, 800).thumbnail(320).size == (320, 200)
    assert len(screen.thumbnail(32).encode("webp")) > 0


@pytest.mark.parametrize("size", [(0, 10), (-5, 5), (99999, 99999)])
def test_it_refuses_senseless_sizes(size: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="cannot be shown"):
        gradient().zoom(Box(0, 0, 10, 10), size)
