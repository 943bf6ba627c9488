"""The agent's claim. The checks have the last word."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ..endings import Finished
from ..verify import Moment, due
from ..workplace import Workplace
from .base import Outcome, Tool


class Done(Tool):
    name: ClassVar[str] = "done"
    description: ClassVar[str] = (
        "Say that the task is finished, and what shows it. The task's checks are looked at now: when one fails, you "
        "are told the difference, and the task goes on."
    )
    properties: ClassVar[Mapping[str, Any]] = {
        "summary": {"type": "string", "description": "What was done, for the person"},
        "evidence": {"type": "string", "description": "What shows that it is done"},
    }
    required: ClassVar[tuple[str, ...]] = ("summary",)
    repeatable: ClassVar[bool] = True

    def may_end(self, given: Mapping[str, Any]) -> bool:
        return True

    def run(self, given: Mapping[str, Any], place: Workplace) -> Outcome:
        claim = "\n".join(filter(None, (given["summary"].strip(), given.get("evidence", "").strip())))[:5000]
        checks = due(place.checks, Moment.DONE)
        verdict = place.verify(checks) if checks else None
        if verdict is None or verdict.passed:
            return Outcome("The task is finished.", ending=Finished(claim, verdict))
        return Outcome(verdict.difference(), ok=False, ending=Finished(claim, verdict))
