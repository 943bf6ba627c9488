"""Files of a task that does not exist yet: kept at once, so that a form sent twice does not lose them.

The page holds a signed word for each. A hash alone would let anybody take a file that somebody else has stored.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.core import signing
from django.core.files.uploadedfile import UploadedFile

from agents.attaching import Attachable, Kept, keep
from agents.delivery import clean_name
from agents.errors import BadTask
from agents.examples import EXAMPLES
from agents.models import Task

from ..models import User

SALT = "a file that waits for its task"
DAY = 24 * 3600
BUNDLED = {name: path for example in EXAMPLES.values() for name, path in example.attachments().items()}


@dataclass(frozen=True)
class Waiting:
    """One line of the list below the prompt. `field` and `value` bring it back with the form."""

    name: str
    size: int
    field: str
    value: str
    content: Attachable


def uploaded(person: User, file: "UploadedFile[Any]") -> Waiting:
    """Raises BadTask, DiskFull."""
    name = clean_name(file.name or "")
    return _waiting(person, name, keep(name, file.file))  # type: ignore[arg-type]


def of_task(person: User, task: Task) -> list[Waiting]:
    """Of a task that the person may see."""
    return [_waiting(person, file.name, Kept(file.sha256, file.size)) for file in task.attachments.all()]


def returned(person: User, word: str) -> Waiting:
    """Raises BadTask for a word that was not given to this person lately."""
    try:
        owner, name, sha256, size = signing.loads(word, salt=SALT, max_age=DAY)
    except (signing.BadSignature, ValueError):
        raise BadTask("attachments: a file was kept for too long; attach it again.") from None
    if owner != person.pk:
        raise BadTask("attachments: a file belongs to somebody else.")
    return _waiting(person, name, Kept(sha256, size))


def bundled(names: Iterable[str]) -> list[Waiting]:
    """Files that come with the examples."""
    known = [name for name in names if name in BUNDLED]
    return [Waiting(name, BUNDLED[name].stat().st_size, "bundled", name, BUNDLED[name]) for name in known]


def by_name(waiting: Iterable[Waiting]) -> Mapping[str, Waiting]:
    """The last of a name counts."""
    return {each.name: each for each in waiting}


def _waiting(person: User, name: str, kept: Kept) -> Waiting:
    word = signing.dumps([person.pk, name, kept.sha256, kept.size], salt=SALT)
    return Waiting(name, kept.size, "kept", word, kept)
