"""What a running `up` has written down about itself. Standard library only."""

import json
from pathlib import Path
from typing import TypedDict

from sandboxes.host import here

ENDING = "stopping"


class Process(TypedDict):
    pid: int
    started: int


class Record(Process):
    """`doing` is what it last said that it does, `url` where it serves."""

    services: dict[str, tuple[int, int]]
    doing: str
    url: str


def serves(record: Record) -> bool:
    """The web is among the last that are started; before it there may be no database."""
    return "web" in record["services"] and not is_ending(record)


def is_ending(record: Record) -> bool:
    return record["doing"] == ENDING


def record_file() -> Path:
    return here().own / "up.json"


def read() -> Record | None:
    return read_from(record_file())


def read_from(file: Path) -> Record | None:
    """None when there is none, or none that makes sense."""
    try:
        found = json.loads(file.read_text())
        services = {str(name): _process(*each) for name, each in found["services"].items()}
        pid, started = _process(found["pid"], found["started"])
        doing, url = str(found["doing"]), str(found["url"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return {"pid": pid, "started": started, "services": services, "doing": doing, "url": url}


def _process(pid: object, started: object) -> tuple[int, int]:
    """A number below 2 would be init, or a whole group of processes, once it is sent a signal."""
    if type(pid) is not int or type(started) is not int or pid < 2:
        raise ValueError(f"{pid} is no process that was started here")
    return pid, started


def write(record: Record) -> None:
    temporary = record_file().with_suffix(".new")
    temporary.write_text(json.dumps(record))
    temporary.rename(record_file())


def forget() -> None:
    record_file().unlink(missing_ok=True)
