"""The pictures of a branch: kept once each, and shown to the model in its frame."""

from collections import deque
from collections.abc import Callable

from sandboxes.display.diff import same
from sandboxes.display.screen import Screen
from traces.events import Recorder
from traces.payloads import Sha256

from .coords import Frame
from .turns import Picture

MEDIA_TYPE = "image/webp"
REMEMBERED = 3


class Album:
    """To compare two screens takes a millisecond and to encode one fifty, so the last few are known again."""

    def __init__(self, recorder: Recorder, frame: Callable[[], Frame]) -> None:
        self._recorder = recorder
        self._frame = frame
        self._known: deque[tuple[Screen, Picture, Sha256]] = deque(maxlen=REMEMBERED)

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
        return picture, self._recorder.picture(
            picture.data, picture.media_type, picture.width, picture.height, exact=True
        )

    def _kept(self, screen: Screen) -> tuple[Picture, Sha256]:
        for known, picture, sha256 in self._known:
            if same(known, screen):
                return picture, sha256
        native = Frame(screen.size, screen.size, media_type=MEDIA_TYPE).picture(screen)
        picture, sha256 = self.add(native)
        self._known.appendleft((screen, picture, sha256))
        return picture, sha256
