"""The screen of a machine, seen and touched."""

import io

import pytest
from PIL import Image

from sandboxes.actions import BadAction, Click, Move
from sandboxes.base import Sandbox


def test_it_shows_a_desktop(sandbox: Sandbox) -> None:
    with sandbox.desktop() as desktop:
        screen = desktop.screenshot()
        assert not screen.blank
        assert screen.size == desktop.size
    assert Image.open(io.BytesIO(screen.encode("png"))).size == screen.size


def test_it_has_done_what_it_was_told_when_it_returns(sandbox: Sandbox) -> None:
    with sandbox.desktop() as desktop:
        for x, y in ((321, 234), (12, 345)):
            desktop.perform(Move(x, y))
            assert f"x:{x} y:{y} " in sandbox.exec(["xdotool", "getmouselocation"]).stdout.decode()


def test_it_refuses_what_is_not_on_the_screen(sandbox: Sandbox) -> None:
    with sandbox.desktop() as desktop, pytest.raises(BadAction):
        desktop.perform(Click(60_000, 60_000))
