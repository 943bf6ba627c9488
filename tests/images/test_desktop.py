"""The desktop image as it was built here. Building it twice takes minutes: looked for is what made builds differ."""

from pathlib import Path

import pytest

from sandboxes.images import store


@pytest.fixture(scope="module")
def share() -> Path:
    return store.find("desktop").root / "usr/share"


def test_it_holds_no_picture_that_tells_when_it_was_recoloured(share: Path) -> None:
    pictures = [*share.glob("icons/Yaru/*/places/*.png"), *share.glob("themes/GodHand/**/*.png")]
    assert len(pictures) > 100
    assert [picture for picture in pictures if any(mark in picture.read_bytes() for mark in (b"tIME", b"date:"))] == []


def test_it_holds_fonts_whose_caches_do_not_depend_on_the_day(share: Path) -> None:
    folders = [path for path in share.glob("fonts/**/") if path.is_dir()]
    assert {folder.stat().st_mtime for folder in folders} == {0}
