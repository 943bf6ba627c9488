"""A file of the machine becomes a document of the task."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ..workplace import Workplace
from .base import Outcome, Tool


class Deliver(Tool):
    name: ClassVar[str] = "deliver"
    description: ClassVar[str] = (
        "Hand over a file that was asked for, by its path in the machine. Deliver it again after changing it."
    )
    properties: ClassVar[Mapping[str, Any]] = {
        "path": {"type": "string"},
        "title": {"type": "string", "description": "A few words for the person"},
    }
    required: ClassVar[tuple[str, ...]] = ("path",)
    repeatable: ClassVar[bool] = True

    def run(self, given: Mapping[str, Any], place: Workplace) -> Outcome:
        try:
            return Outcome(place.deliver(given["path"], given.get("title", "")[:200]))
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
            return Outcome(f"{given['path']}: {error.strerror or error}", ok=False)
