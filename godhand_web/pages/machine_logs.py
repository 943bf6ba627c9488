"""What the programs of a running desktop said, read from inside the machine."""

from dataclasses import dataclass, field

from sandboxes import lifecycle
from sandboxes.errors import SandboxError
from sandboxes.guest.client import Guest
from sandboxes.models import Machine, State

LOGS = "/var/log/godhand"
ENDING = ".log"
LARGEST = 4 << 20
LINES = 300


@dataclass(frozen=True)
class Logs:
    """`names` of those that are there, the last lines of the one that is `shown`, or a sentence why there is none.

    A machine that is not there yet has no programs, but it has a `story`.
    """

    names: list[str] = field(default_factory=list)
    shown: str = ""
    text: str = ""
    sentence: str = ""
    story: bool = False


def logs_of(machine: Machine, wanted: str) -> Logs:
    if machine.pending:
        return Logs(sentence="Its programs do not run yet. This was done for it so far:", story=True)
    if machine.state == State.FAILED:
        return Logs(sentence="Its programs never ran. This was done for it:", story=True)
    if machine.state != State.READY:
        return Logs(sentence="Logs are inside the machine: they can be read while it runs.")
    try:
        with lifecycle.attach(machine).guest() as guest:
            return _read(guest, wanted)
    except (SandboxError, OSError, KeyError) as error:
        return Logs(sentence=f"The machine does not tell: {error}")


def _read(guest: Guest, wanted: str) -> Logs:
    files = (entry for entry in guest.list_dir(LOGS) if entry.kind == "file" and entry.name.endswith(ENDING))
    names = sorted(entry.name.removesuffix(ENDING) for entry in files)
    if not names:
        return Logs(sentence="Its programs have said nothing yet.")
    shown = wanted if wanted in names else names[0]
    text = guest.read_file(f"{LOGS}/{shown}{ENDING}", limit=LARGEST).decode(errors="replace")
    return Logs(names, shown, "\n".join(text.splitlines()[-LINES:]))
