"""The files of one branch's head: what it has delivered, and what is in the home folder of its machine."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Protocol

from sandboxes import lifecycle
from sandboxes.errors import SandboxError
from sandboxes.models import Machine, State
from traces.errors import TraceError
from traces.events import Kind
from traces.models import Blob, Event
from traces.outline import stretches
from traces.payloads import Sha256
from traces.queries import stored

from .delivery import HOME
from .errors import AgentError
from .filediff import LARGEST, Difference, Found, differences, same

MOST_FILES = 20_000
MOST_HASHED = 500
LARGEST_HASHED = 32 << 20
LISTING = 8 << 20
PATIENCE = 10.0
NEWEST = 2**62


class NotReadable(AgentError):
    """The message may be shown."""


class FileSet(Protocol):
    @property
    def files(self) -> Mapping[str, Found]:
        """By path. Raises NotReadable."""

    def read(self, path: str) -> bytes:
        """At most LARGEST bytes. Raises NotReadable."""


class Delivered:
    """The newest of every path that came out on the way to the end of a branch."""

    def __init__(self, trace_id: str, branch: str) -> None:
        self.trace_id, self.branch = trace_id, branch

    @cached_property
    def files(self) -> Mapping[str, Found]:
        newest: dict[str, str] = {}
        for part, last in reversed(list(stretches(self.trace_id, self.branch, NEWEST))):
            events = Event.objects.filter(trace=self.trace_id, branch=part, seq__lte=last, kind=Kind.FILE)
            for data in events.order_by("seq").values_list("data", flat=True):
                if data["direction"] == "out":
                    # Half of a surrogate pair, which a model may have said, is in no address.
                    path = data["path"].encode("utf-8", "replace").decode()
                    newest[path.removeprefix(f"{HOME}/")] = data["sha256"]
        sizes = dict(Blob.objects.filter(pk__in=newest.values()).values_list("pk", "size"))
        return {path: Found(path, sizes.get(sha256, 0), sha256=sha256) for path, sha256 in newest.items()}

    def read(self, path: str) -> bytes:
        found = self.files.get(path)
        if found is None or found.size > LARGEST:
            raise NotReadable("The file is too large to be compared line by line.")
        try:
            return stored(Sha256(found.sha256)).data
        except TraceError as error:
            raise NotReadable(str(error)) from None


class Home:
    """Of a machine that runs. What is saved in a snapshot cannot be looked into: it is one picture of its memory."""

    def __init__(self, machine: Machine) -> None:
        if machine.state != State.READY:
            raise NotReadable(f"Its machine is {machine.state}.")
        self.sandbox = lifecycle.attach(machine)

    @cached_property
    def files(self) -> Mapping[str, Found]:
        argv = ["find", HOME, "-xdev", "-type", "f", "-printf", r"%s %T@ %P\0"]
        entries = self._run(argv).split(b"\0")[:-1]
        if len(entries) > MOST_FILES:
            raise NotReadable(f"There are more than {MOST_FILES} files in its home folder.")
        found = filter(None, map(_entry, entries))
        return {each.path: each for each in found}

    def read(self, path: str) -> bytes:
        if path not in self.files or self.files[path].size > LARGEST:
            raise NotReadable("The file is too large to be compared line by line.")
        try:
            with self.sandbox.guest() as guest:
                return guest.read_file(f"{HOME}/{path}", limit=LARGEST)
        except (SandboxError, OSError) as error:
            raise NotReadable(f"It could not be read: {error}") from None

    def hashes(self, paths: Collection[str]) -> dict[str, str]:
        """As far as they can be told."""
        if not paths:
            return {}
        output = self._run(["sha256sum", "--zero", "--", *(f"{HOME}/{path}" for path in paths)])
        told = (line.decode("utf-8", "replace").partition("  ") for line in output.split(b"\0"))
        return {path.removeprefix(f"{HOME}/"): sha256 for sha256, _, path in told if path}

    def _run(self, argv: list[str]) -> bytes:
        """A file that goes while it is looked at makes a program fail, and what it said still counts."""
        try:
            with self.sandbox.guest() as guest:
                return guest.exec(argv, timeout=PATIENCE, output_limit=LISTING).stdout
        except (SandboxError, OSError) as error:
            raise NotReadable(f"Its files could not be listed: {error}") from None


def between(a: FileSet, b: FileSet) -> list[Difference]:
    """Files that were written again with what they held before are no difference. Raises NotReadable."""
    found = differences(a.files, b.files)
    if not isinstance(a, Home) or not isinstance(b, Home):
        return found
    alike = [
        each.path for each in found if each.a and each.b and each.a.size == each.b.size and each.a.size < LARGEST_HASHED
    ][:MOST_HASHED]
    hashed_a, hashed_b = a.hashes(alike), b.hashes(alike)
    return [each for each in found if not _is_equal(each, hashed_a, hashed_b)]


def _is_equal(each: Difference, a: Mapping[str, str], b: Mapping[str, str]) -> bool:
    if each.a is None or each.b is None or each.path not in a or each.path not in b:
        return False
    return same(replace(each.a, sha256=a[each.path]), replace(each.b, sha256=b[each.path]))


def _entry(line: bytes) -> Found | None:
    """None for a name that is no text: it could not be asked for."""
    try:
        size, modified, path = line.decode().split(" ", 2)
        return Found(path, int(size), float(modified))
    except ValueError:
        return None
