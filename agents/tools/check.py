"""Looking at a check of the task, or at one of the agent's own, before claiming anything."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ..checkers.registry import catalogue, kinds
from ..errors import BadCall, BadTask
from ..policy import COMMANDS
from ..verify import parse_check
from ..workplace import Workplace
from .base import Outcome, Tool

LEGEND = (
    "By kind. What has a ? may be left out, [] is a list, {} a table, and [4] a box in pixels of the whole screen: "
    'x, y, width, height. Cells are named such as "B2" or "Sheet1!B2", values of JSON such as "orders[0].total".'
)


class RunCheck(Tool):
    name: ClassVar[str] = "check"
    description: ClassVar[str] = (
        "Find out whether something is so. Give the `name` of one of the task's checks, or a check of your own as "
        "`kind` and its `options`; with nothing given it lists the task's checks. Looking costs little: do it before "
        "you say that you are done."
    )
    properties: ClassVar[Mapping[str, Any]] = {
        "name": {"type": "string", "description": "Of a check of the task."},
        "kind": {"type": "string", "description": "Of a check of your own; they are listed at `options`."},
        "options": {"type": "object", "description": f"{LEGEND}\n{catalogue()}"},
    }
    """The kinds are not in the description above, of which OpenAI takes 1024 characters."""
    repeatable: ClassVar[bool] = True

    def may_repeat(self, given: Mapping[str, Any]) -> bool:
        """A command of the model's own may do something, and is not run by operation id."""
        return given.get("kind") not in COMMANDS

    def run(self, given: Mapping[str, Any], place: Workplace) -> Outcome:
        if "kind" in given:
            try:
                chosen = parse_check({**given.get("options", {}), "kind": given["kind"], "name": "your check"})
            except BadTask as error:
                raise BadCall(f"{error} The kinds are {', '.join(kinds())}.") from None
        else:
            known = {check.name: check for check in place.checks}
            if not given:
                return Outcome("\n".join(["The task's checks:", *known]) if known else "The task has no checks.")
            if given.get("name") not in known:
                raise BadCall(f"name: must be one of {', '.join(known) or 'none, as the task has no checks'}.")
            chosen = known[given["name"]]
        verdict = place.verify([chosen])
        return Outcome("It passed." if verdict.passed else verdict.difference(), ok=verdict.passed)
