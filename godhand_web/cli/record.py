"""What a running `up` has written down about itself. Standard library only."""

import json
from pathlib import Path
from typing import TypedDict

from sandboxes.host import here


class Record(TypedDict):
    """`doing` is what it last said that it does."""

    pid: int
    started: int
    services: dict[str, tuple[int, int]]
    doing: str


def is_starting(record: Record) -> bool:
    """The web is among the last that are started; before it there may be no database."""
    return "web" not in record["services"]


def record_file() -> Path:
    return here().run / "up.json"


def read() -> Record | None:
    return read_from(record_file())


def read_from(file: Path) -> Record | None:
    try:
        found: Record = json.loads(file.read_text())
    except (OSError, ValueError):
        return None
    return found


def write(record: Record) -> None:
    temporary = record_file().with_suffix(".new")
    temporary.write_text(json.dumps(record))
    temporary.rename(record_file())


def forget() -> None:
    record_file().unlink(missing_ok=True)
