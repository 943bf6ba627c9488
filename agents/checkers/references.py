"""Pictures that a screen is compared with. A reference is a JSON file and the picture it names, in one folder.

The picture's name holds its hash and the JSON is replaced in one go, so whoever reads meanwhile sees the old
reference or the new one.
"""

import fcntl
import hashlib
import json
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from sandboxes.display.screen import MAX_SIDE, Box, Screen

from ..errors import AgentError, BadTask
from .options import IsReferenceName, fitted, plain


class BadReference(AgentError):
    """A stored picture that cannot be read or does not fit what is asked of it."""


@dataclass(frozen=True)
class Reference:
    """`region` is the part of the screen that counts, `excluded` what does not count of it; all in its own pixels."""

    screen: Screen
    region: Box
    excluded: tuple[Box, ...] = ()


def accept_reference(
    store: Path, name: str, screen: Screen, region: Box | None = None, excluded: Sequence[Box] = ()
) -> Reference:
    """Keep this screen as what is expected from now on. Raises BadTask for a bad name or a part not on the screen."""
    IsReferenceName().check("reference", name)
    reference = _checked(Reference(screen, region or Box(0, 0, *screen.size), tuple(excluded)))
    png = screen.encode("png")
    picture = f"{name}.{hashlib.sha256(png).hexdigest()[:16]}.png"
    facts = {"picture": picture, "region": plain(reference.region), "excluded": plain(reference.excluded)}
    store.mkdir(parents=True, exist_ok=True)
    with _alone(store):
        _write(store / picture, png)
        _write(store / f"{name}.json", json.dumps(facts).encode())
        for old in store.glob(f"{name}.*.png"):
            if old.name != picture:
                old.unlink()
    return reference


def load_reference(store: Path, name: str) -> Reference:
    """Raises FileNotFoundError for one that was never accepted, BadReference, and BadTask for a bad name."""
    IsReferenceName().check("reference", name)
    try:
        return _loaded(store, name, _facts(store / f"{name}.json", name))
    except FileNotFoundError:
        return _loaded(store, name, _facts(store / f"{name}.json", name))


def _loaded(store: Path, name: str, facts: dict[str, Any]) -> Reference:
    picture = str(facts["picture"])
    if Path(picture).name != picture or not picture.startswith(f"{name}."):
        raise BadReference(f"The reference “{name}” names a picture of another one; accept a screen anew.")
    try:
        region, excluded = (
            fitted("region", Box, facts["region"]),
            fitted("excluded", tuple[Box, ...], facts["excluded"]),
        )
        return _checked(Reference(_picture(store / picture), region, excluded))
    except FileNotFoundError:
        raise
    except (OSError, SyntaxError, ValueError, BadTask) as error:
        raise BadReference(f"The reference “{name}” cannot be read ({error}); accept a screen anew.") from None


def _facts(path: Path, name: str) -> dict[str, Any]:
    try:
        facts = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise FileNotFoundError(2, "There is no reference picture of that name; accept a screen first", name) from None
    except (ValueError, RecursionError):
        facts = None
    if not isinstance(facts, dict) or not {"picture", "region", "excluded"} <= facts.keys():
        raise BadReference(f"The reference “{name}” cannot be read; accept a screen anew.")
    return facts


def _picture(path: Path) -> Screen:
    with Image.open(path, formats=["PNG"]) as image:
        if max(image.size) > MAX_SIDE:
            raise ValueError("it is too large")
        return Screen.from_rgb(np.asarray(image.convert("RGB")))


def _checked(reference: Reference) -> Reference:
    whole = Box(0, 0, *reference.screen.size)
    if not whole.contains(reference.region) or not reference.region.area:
        raise BadTask("region: is not on the screen.")
    return reference


@contextmanager
def _alone(store: Path) -> Iterator[None]:
    folder = os.open(store, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


def _write(path: Path, data: bytes) -> None:
    descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=".draft-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(draft).chmod(0o644)
        Path(draft).replace(path)
    except BaseException:
        Path(draft).unlink(missing_ok=True)
        raise
