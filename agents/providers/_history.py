"""What providers do to a conversation before they tell it. All are pure functions of the turns.

Old pictures are left out in batches: between two batches every request begins with the whole of the one before, so
the services' caches hold, also for branches.
"""

import base64
import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from PIL import Image, UnidentifiedImageError

from ..coords import Frame, PictureLimits
from ..errors import ProviderError
from ..turns import Answered, Call, Picture, Reply, Result, Said, Turn
from ._computer import TOOLSET

KEEP = 3
EVERY = 25
LEFT_OUT = "(An older picture was left out here.)"
MEDIA_TYPES = {"image/png", "image/jpeg", "image/webp"}
MAX_BYTES = 3_500_000
"""Services take five million signs of base64."""


def forgotten(turns: Sequence[Turn], keep: int = KEEP, every: int = EVERY) -> int:
    """How many of the oldest Answered turns have lost their pictures."""
    answered = sum(isinstance(turn, Answered) for turn in turns)
    return max(0, answered - keep) // every * every


def without_old_pictures(turns: Sequence[Turn], keep: int = KEEP, every: int = EVERY) -> list[Turn]:
    """The same turns, the oldest pictures replaced by words. What people and the system said keeps its pictures."""
    left = forgotten(turns, keep, every)
    told: list[Turn] = []
    for turn in turns:
        if isinstance(turn, Answered) and left > 0:
            left -= 1
            turn = Answered(tuple(map(_without_picture, turn.results)))
        told.append(turn)
    return told


def last_picture(turns: Sequence[Turn]) -> Picture | None:
    """Of the whole screen: coordinates of a zoomed part are not those of the screen."""
    for turn in reversed(turns):
        for part in reversed(_parts(turn)):
            if isinstance(part, Picture):
                return part
    return None


def data_url(picture: Picture) -> str:
    return f"data:{picture.media_type};base64,{base64.b64encode(picture.data).decode()}"


@cache
def blank() -> Picture:
    """For an answer that must have a picture when none was ever taken."""
    return Frame((16, 16), (16, 16), media_type="image/png").encode(Image.new("RGB", (16, 16)))


def foreign_id(place: int, number: int) -> str:
    """For a call of another vendor: unique in the conversation, and spelled as every service allows."""
    return f"call_{place}_{number}"


def safe_name(name: str) -> str:
    """A name that another vendor's model made up, spelled as every service allows."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", name)[:64] or "unknown"


def sendable(value: Any) -> Any:
    """With question marks for what UTF-8 has no bytes for: halves of signs, from odd file names and odd replies."""
    match value:
        case str():
            return value if value.isascii() else value.encode(errors="replace").decode()
        case Mapping():
            return {sendable(name): sendable(inner) for name, inner in value.items()}
        case list() | tuple():
            return [sendable(inner) for inner in value]
    return value


def pack(value: Any) -> str:
    """JSON as text: a database may sort the keys of an object, and then it would not be sent back unchanged."""
    return json.dumps(value)


def unpack(text: str) -> Any:
    return json.loads(text)


def result_text(result: Result) -> str:
    """Services refuse text without a visible sign."""
    return result.text if result.text.strip() else "OK" if result.ok else "It failed."


def fitted(picture: Picture, limits: PictureLimits) -> Picture:
    """As the service takes it: screenshots are already so, pictures of people and of other providers may not be.

    Raises ProviderError for what is no picture.
    """
    fits = limits.allow(picture.width, picture.height) and len(picture.data) <= MAX_BYTES
    return picture if fits and picture.media_type in MEDIA_TYPES else _resized(picture, limits)


@lru_cache(maxsize=32)
def _resized(picture: Picture, limits: PictureLimits) -> Picture:
    try:
        with Image.open(io.BytesIO(picture.data)) as image:
            size = Frame.fit(image.size, limits).size
            out = io.BytesIO()
            image.convert("RGB").resize(size, Image.Resampling.LANCZOS).save(out, "jpeg", quality=90)
            return Picture(out.getvalue(), "image/jpeg", *size)
    except (UnidentifiedImageError, Image.DecompressionBombError, OSError, ValueError):
        raise ProviderError("A picture in the conversation cannot be read.", permanent=True) from None


def _without_picture(result: Result) -> Result:
    if result.picture is None:
        return result
    return replace(result, picture=None, text=f"{result_text(result)}\n{LEFT_OUT}")


def _is_zoom(call: Call) -> bool:
    return (call.toolset, call.name) == (TOOLSET, "zoom")


def _parts(turn: Turn) -> Sequence[object]:
    match turn:
        case Said():
            return turn.parts
        case Answered():
            return [result.picture for result in turn.results if not _is_zoom(result.call)]
        case Reply():
            return ()
