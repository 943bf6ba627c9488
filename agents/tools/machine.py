"""The agent owns its machine: it saves it, goes back, and forks the task."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from ..endings import HANDED_ON, HandedOn
from ..errors import BadCall, BadTask
from ..ways import ways
from ..workplace import Workplace
from .base import Outcome, Tool

MOST_BRANCHES = 8
FORKS = ("fork", "best_of", "search")


class Machine(Tool):
    name: ClassVar[str] = "machine"
    description: ClassVar[str] = (
        "Your machine's life. `snapshot` saves memory and disk as they are now, under a label; `restore` puts the "
        "machine back to a snapshot: everything done since is undone in the machine, not in this conversation; "
        "`list_snapshots`; `fork` lets the task go on from here in several branches at once, one for each of the "
        "`alternatives`, each with its own copy of the machine; with `rest` you stop here and leave it to them. "
        "`best_of` leaves the task to `n` attempts from here, with `alternatives` for those that you have an idea for; "
        "`search` does so too, and follows each that fails by another from the most promising moment. In the end the "
        "best is chosen. Save before you try something that may go wrong."
    )
    properties: ClassVar[Mapping[str, Any]] = {
        "verb": {"type": "string", "enum": ["snapshot", "restore", "list_snapshots", *FORKS]},
        "label": {"type": "string", "description": "snapshot: a few words"},
        "snapshot": {"type": "string", "description": "restore: its id"},
        "alternatives": {"type": "array", "items": {"type": "string"}, "description": "fork: what each one tries"},
        "n": {"type": "integer", "description": "best_of, search: how many at once"},
        "rest": {"type": "boolean", "description": "fork: this branch ends, and only its alternatives go on"},
    }
    required: ClassVar[tuple[str, ...]] = ("verb",)
    repeatable: ClassVar[bool] = True
    """A fork has its operation's id for a key; to save or to go back once more changes nothing."""

    def may_end(self, given: Mapping[str, Any]) -> bool:
        return given["verb"] in FORKS

    def run(self, given: Mapping[str, Any], place: Workplace) -> Outcome:
        verbs = {"snapshot": self._snapshot, "restore": self._restore, "list_snapshots": self._list}
        if given["verb"] in FORKS:
            return self._fork(given, place)
        return Outcome(verbs[given["verb"]](given, place))

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

    def _fork(self, given: Mapping[str, Any], place: Workplace) -> Outcome:
        hints = _hints(given)
        place.leave()
        names = ", ".join(place.keeper.fork(hints, f"fork {place.doing}" if place.doing else ""))
        if given["verb"] == "search":
            place.keeper.search(len(hints))
        if given["verb"] == "fork" and not given.get("rest"):
            return Outcome(f"The task goes on in {names} as well; go on here with your own way.")
        said = HANDED_ON.format(names)
        return Outcome(said, ending=HandedOn(said))


def _hints(given: Mapping[str, Any]) -> Sequence[str]:
    """What each branch is told. Raises BadCall."""
    hints = given.get("alternatives", [])
    n = len(hints) if given["verb"] == "fork" else given.get("n", len(hints))
    try:
        return ways(n, hints, MOST_BRANCHES)
    except BadTask as error:
        raise BadCall(f"alternatives: {error}") from None
