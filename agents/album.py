"""The pictures of a branch: kept once each, and shown to the model in its frame."""

from collections.abc import Callable

from sandboxes.display.screen import Screen
from traces.events import Recorder
from traces.payloads import Sha256

from .coords import Frame
from .turns import Picture

MEDIA_TYPE = "image/webp"


class Album:
    def __init__(self, recorder: Recorder, frame: Callable[[], Frame]) -> None:
        self._recorder = recorder
        self._frame = frame
        self._last: tuple[Screen, Picture, Sha256] | None = None

    def keep(self, screen: Screen) -> Sha256:
        return self._kept(screen)[1]

    def show(self, screen: Screen) -> tuple[Picture, Sha256]:
        """As the model sees it."""
        frame = self._frame()
        if frame.size == screen.size and frame.media_type == MEDIA_TYPE:
            return self._kept(screen)
        return self.add(frame.picture(screen))

    def add(self, picture: Picture) -> tuple[Picture, Sha256]:
        """A picture that is shown as it is."""
        sha256 = self._recorder.picture(picture.data, picture.media_type, picture.width, picture.height, exact=True)
        return picture, sha256

    def _kept(self, screen: Screen) -> tuple[Picture, Sha256]:
        if self._last is None or self._last[0] is not screen:
            native = Frame(screen.size, screen.size, media_type=MEDIA_TYPE).picture(screen)
            self._last = (screen, *self.add(native))
        return self._last[1], self._last[2]
