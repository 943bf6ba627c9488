"""Asking a person. The run is parked, and no call waits."""

from collections.abc import Mapping
from typing import Any, ClassVar

from ..endings import GaveUp, Parked
from ..workplace import Workplace
from .base import Outcome, Tool

NOBODY = "Nobody is there to answer. Decide by yourself, and say in your summary what you decided."


class RequestHuman(Tool):
    name: ClassVar[str] = "request_human"
    description: ClassVar[str] = (
        "Ask a person for what only a person can give: a decision, a password typed by hand, a captcha. The task "
        "rests until somebody answers, and the answer is your next message. Do not ask what you can find out."
    )
    properties: ClassVar[Mapping[str, Any]] = {"question": {"type": "string"}}
    required: ClassVar[tuple[str, ...]] = ("question",)
    repeatable: ClassVar[bool] = True

    def may_end(self, given: Mapping[str, Any]) -> bool:
        return True

    def run(self, given: Mapping[str, Any], place: Workplace) -> Outcome:
        question = given["question"].strip()[:2000] or "The agent asks for help."
        if place.on_help == "continue":
            return Outcome(NOBODY, ok=False)
        if place.on_help == "stop":
            return Outcome("The task ends here.", ending=GaveUp(f"The agent needs a person: {question}"))
        return Outcome("A person was asked; the answer will follow.", ending=Parked("A person is asked for.", question))
