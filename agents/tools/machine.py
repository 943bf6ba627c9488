"""The agent owns its machine: it saves it, goes back, and forks the task."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ..endings import HandedOn
from ..errors import BadCall
from ..workplace import Workplace
from .base import Outcome, Tool

MOST_BRANCHES = 8


class Machine(Tool):
    name: ClassVar[str] = "machine"
    description: ClassVar[str] = (
        "Your machine's life. `snapshot` saves memory and disk as they are now, under a label; `restore` puts the "
        "machine back to a snapshot: everything done since is undone in the machine, not in this conversation; "
        "`list_snapshots`; `fork` lets the task go on from here in several branches at once, one for each of the "
        "`alternatives`, each with its own copy of the machine; with `rest` you stop here and leave it to them. In the "
        "end the best is chosen. Save before you try something that may go wrong."
    )
    properties: ClassVar[Mapping[str, Any]] = {
        "verb": {"type": "string", "enum": ["snapshot", "restore", "list_snapshots", "fork"]},
        "label": {"type": "string", "description": "snapshot: a few words"},
        "snapshot": {"type": "string", "description": "restore: its id"},
        "alternatives": {"type": "array", "items": {"type": "string"}, "description": "fork: what each one tries"},
        "rest": {"type": "boolean", "description": "fork: this branch ends, and only its alternatives go on"},
    }
    required: ClassVar[tuple[str, ...]] = ("verb",)

    def run(self, given: Mapping[str, Any], place: Workplace) -> Outcome:
        verbs = {
            "snapshot": self._snapshot,
            "restore": self._restore,
            "list_snapshots": self._list,
            "fork": self._fork,
        }
        said = verbs[given["verb"]](given, place)
        return Outcome(said, ending=HandedOn(said) if given["verb"] == "fork" and given.get("rest") else None)

    def _snapshot(self, given: Mapping[str, Any], place: Workplace) -> str:
        place.leave()
        saved = place.keeper.snapshot(given.get("label", "")[:100] or "by the agent")
        return f"Saved as {saved.id} “{saved.label}”: {saved.keeps}, {saved.size / 2**20:.0f} MiB."

    def _restore(self, given: Mapping[str, Any], place: Workplace) -> str:
        known = {saved.id for saved in place.keeper.snapshots()}
        if given.get("snapshot") not in known:
            raise BadCall(f"snapshot: must be one of {', '.join(sorted(known)) or 'none: there is no snapshot yet'}.")
        place.leave()
        place.keeper.restore(given["snapshot"])
        return f"The machine is back at {given['snapshot']}."

    def _list(self, _: Mapping[str, Any], place: Workplace) -> str:
        saved = place.keeper.snapshots()
        return "\n".join(f"{one.id}  {one.label}  {one.keeps}  {one.size / 2**20:.0f} MiB" for one in saved) or "None."

    def _fork(self, given: Mapping[str, Any], place: Workplace) -> str:
        hints = given.get("alternatives", [])
        if not 1 <= len(hints) <= MOST_BRANCHES or not all(isinstance(hint, str) and hint.strip() for hint in hints):
            raise BadCall(f"alternatives: must be from 1 to {MOST_BRANCHES} texts.")
        place.leave()
        names = ", ".join(place.keeper.fork(hints))
        if given.get("rest"):
            return f"The task goes on in {names}."
        return f"The task goes on in {names} as well; go on here with your own way."
