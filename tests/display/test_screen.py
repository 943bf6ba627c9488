import io

import numpy as np
import pytest
from PIL import Image

from sandboxes.display.screen import Format, Screen


def gradient(width: int = 64, height: int = 48) -> Screen:
    rows, columns = np.mgrid[0:height, 0:width]
    return Screen.from_rgb(np.dstack([columns * 4, rows * 5, columns * 0 + 90]).astype(np.uint8), (10, 20))


@pytest.mark.parametrize("kind", ["jpeg", "png", "webp"])
def test_it_encodes_what_it_shows(kind: Format) -> None:
    screen = gradient()
    decoded = Image.open(io.BytesIO(screen.encode(kind, quality=95)))
    assert decoded.format == kind.upper()
    assert decoded.mode == "RGB"
    error = np.abs(np.asarray(decoded).astype(int) - screen.pixels)
    assert error.mean() < (0.1 if kind == "png" else 4)


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
