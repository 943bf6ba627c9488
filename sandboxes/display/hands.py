"""Actions to events."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

from ..actions import Action, Click, Drag, Hold, Key, MouseDown, MouseUp, Move, Scroll, Type, Wait
from .keyboard import Keyboard
from .mouse import Mouse
from .rfb import RfbClient


class Hands:
    def __init__(self, client: RfbClient) -> None:
        self._client = client
        self.mouse = Mouse(client)
        self.keyboard = Keyboard(client)

    def perform(self, action: Action) -> None:
        """Keys wait for the mouse too: until the press has been looked at, the focus is where it was."""
        self.mouse.rest()
        match action:
            case Type(text):
                self.keyboard.type(text)
            case Key(chord, repeat):
                self.keyboard.press(chord, repeat)
            case Hold(chord, seconds):
                self.keyboard.hold(chord, seconds)
            case Wait(seconds):
                self._client.pause(seconds)
            case Drag():
                self._drag(action)
            case _:
                self._point(action)

    def _point(self, action: Move | Click | MouseDown | MouseUp | Scroll) -> None:
        at = self.mouse.place(action.x, action.y)
        match action:
            case Move():
                self.mouse.move(at)
            case Click(button=button, count=count, holding=holding):
                with self._holding(holding):
                    self.mouse.click(at, button, count)
            case MouseDown(button=button):
                self.mouse.down(at, button)
            case MouseUp(button=button):
                self.mouse.up(at, button)
            case Scroll(down=down, right=right, holding=holding):
                with self._holding(holding):
                    self.mouse.wheel(at, down, right)
            case _:
                assert_never(action)
        self.mouse.arrived(at)

    def _drag(self, drag: Drag) -> None:
        path = [(drag.x, drag.y), *drag.via, (drag.to_x, drag.to_y)]
        points = [self.mouse.place(x, y) for x, y in path]
        with self._holding(drag.holding):
            self.mouse.drag(points, drag.button)
        self.mouse.arrived(points[-1])

    @contextmanager
    def _holding(self, chord: str) -> Iterator[None]:
        """A press that is held back counts the keys that are down when it is let go."""
        with self.keyboard.holding(chord):
            yield
            if chord:
                self.mouse.rest()
