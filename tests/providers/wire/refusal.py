"""What the services refuse, and the checks that every one of them makes."""

import base64
import binascii
import io
import re
from collections.abc import Collection, Mapping
from typing import Any

from PIL import Image, UnidentifiedImageError

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class Refusal(Exception):
    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


def insist(holds: bool, message: str) -> None:
    if not holds:
        raise Refusal(message)


def check_fields(value: Any, where: str, needed: Collection[str], allowed: Collection[str] = ()) -> None:
    insist(isinstance(value, Mapping), f"{where}: must be an object")
    for name in needed:
        insist(name in value, f"{where}.{name}: Field required")
    for name in value:
        insist(name in needed or name in allowed, f"{where}.{name}: Extra inputs are not permitted")


def check_text(value: Any, where: str) -> None:
    insist(isinstance(value, str) and bool(value.strip()), f"{where}: text must be non-empty")


def check_name(value: Any, where: str) -> None:
    insist(isinstance(value, str) and bool(NAME.fullmatch(value)), f"{where}: must match {NAME.pattern}")


def check_description(value: str, where: str) -> None:
    insist(len(value) <= 1024, f"{where}: string too long. Expected a string with maximum length 1024")


def check_object_schema(value: Any, where: str) -> None:
    insist(isinstance(value, Mapping) and value.get("type") == "object", f"{where}: must be a schema of an object")


def picture_size(data: str, media_type: str, where: str) -> tuple[int, int]:
    """Width and height of a picture that is what it says."""
    try:
        with Image.open(io.BytesIO(base64.b64decode(data, validate=True))) as image:
            image.load()
            insist(Image.MIME.get(image.format or "") == media_type, f"{where}: the image is no {media_type}")
            return image.size
    except (binascii.Error, UnidentifiedImageError, OSError):
        raise Refusal(f"{where}: Could not process image") from None


def picture_size_of_url(url: Any, where: str) -> tuple[int, int]:
    found = re.fullmatch(r"data:(image/[a-z]+);base64,(.*)", url if isinstance(url, str) else "", re.DOTALL)
    insist(found is not None, f"{where}: must be a data URL of an image")
    assert found is not None
    return picture_size(found[2], found[1], where)
