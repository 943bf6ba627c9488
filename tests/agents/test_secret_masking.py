"""Secrets on pictures that were drawn here, read by the real reader."""

import io

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from agents import ocr
from agents.likeness import Likeness
from agents.masking import Masker
from sandboxes.display.screen import Box, Screen
from traces.hiding import Hider
from traces.pictures import INK, Masked

SECRET = "Tr0ub4dor&3-Xylo"
SIZE = (640, 300)
Words = list[tuple[int, int, str]]
USUAL: Words = [(20, 20, "The quick brown fox"), (20, 60, "jumps over the lazy dog")]


def drawn(words: Words, kind: str = "webp", size: int = 15) -> bytes:
    picture = Image.new("RGB", SIZE, "#e8e6e1")
    pen, font = ImageDraw.Draw(picture), ImageFont.load_default(size)
    for x, y, text in words:
        pen.text((x, y), text, fill="#222222", font=font)
    out = io.BytesIO()
    picture.save(out, kind, **({"lossless": True} if kind == "webp" else {}))
    return out.getvalue()


def pixels(data: bytes) -> "np.typing.NDArray[np.uint8]":
    with Image.open(io.BytesIO(data)) as picture:
        return np.asarray(picture.convert("RGB"))


def left(masked: Masked) -> list[str]:
    return [line.text for line in ocr.read(Screen.from_rgb(pixels(masked.data)))]


@pytest.mark.parametrize("size", [12, 15, 24])
@pytest.mark.parametrize(
    "words",
    [
        [(20, 120, f"Your password is {SECRET} now")],
        [(20, 120, f"https://shop.test/?key={SECRET}&x=1")],
        [(20, 120, "it begins with Tr0ub4d"), (20, 122 + 20, "or&3-Xylo and goes on")],
        [(20, 120, "Tr0ub4d"), (180, 120, "or&3-Xylo")],
    ],
)
def test_it_burns_a_box_over_a_secret(words: Words, size: int) -> None:
    spread = [(x, y if y == 120 else 120 + size + 6, text) for x, y, text in words]
    masked = Masker([SECRET])(drawn([*USUAL, *spread], size=size), "image/webp")
    assert masked.hidden
    assert [line for line in left(masked) if Likeness(SECRET).spans_in(line)] == []
    assert "quick brown" in " ".join(left(masked))
    assert (pixels(masked.data) == INK).all(axis=-1).sum() > 100


def test_it_gives_a_picture_without_secrets_back_as_it_was() -> None:
    picture = drawn(USUAL)
    assert Masker([SECRET])(picture, "image/webp") == Masked(picture, "image/webp", 0)


def test_it_keeps_the_kind_of_a_picture_that_a_model_was_shown() -> None:
    masked = Masker([SECRET])(drawn([(20, 120, SECRET)], "png"), "image/png")
    assert masked.media_type == "image/png"
    assert masked.data.startswith(b"\x89PNG")


def test_it_reads_only_what_changed_and_remembers_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    regions: list[Box | None] = []

    def reading(screen: Screen, region: Box | None = None) -> list[ocr.Line]:
        regions.append(region)
        return real(screen, region)

    real = ocr.read
    monkeypatch.setattr(ocr, "read", reading)
    mask = Masker([SECRET])
    first = mask(drawn([*USUAL, (20, 120, SECRET)]), "image/webp")
    second = mask(drawn([*USUAL, (20, 120, SECRET), (20, 240, "and a new line")]), "image/webp")
    third = mask(drawn([*USUAL, (20, 120, SECRET), (20, 240, "and a new line")]), "image/webp")
    assert regions[0] is None
    (changed,) = regions[1:]
    assert changed is not None
    assert changed.y > 150
    assert changed.height < 100
    assert first.hidden == second.hidden == third.hidden == 1


def test_it_follows_a_secret_that_is_typed_bit_by_bit() -> None:
    mask = Masker([SECRET])
    assert mask(drawn([*USUAL, (20, 120, SECRET[:4])]), "image/webp").hidden == 0
    masked = mask(drawn([*USUAL, (20, 120, SECRET)]), "image/webp")
    assert masked.hidden == 1
    assert [line for line in left(masked) if Likeness(SECRET).spans_in(line)] == []


def test_it_hides_each_line_of_a_long_key() -> None:
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG\nAQEFAASCBKcwggSjAgEA\n-----END KEY-----"
    masked = Masker([key])(drawn([(20, 120, "1  MIIEvQIBADANBgkqhkiG"), (20, 240, "nothing")]), "image/webp")
    assert masked.hidden == 1
    assert "nothing" in left(masked)


def test_it_hides_what_a_spotter_finds_in_a_line() -> None:
    hider = Hider(["Ann"])
    words = [(20, 20, "Ann, bob@example.org"), (20, 120, "An annual report")]
    masked = Masker([], spotters=[hider.spans_in])(drawn(words, size=20), "image/webp")
    assert masked.hidden == 2
    assert [line for line in left(masked) if "@" in line or "Ann," in line] == []
    assert any("annual" in line for line in left(masked))
