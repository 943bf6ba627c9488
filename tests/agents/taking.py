"""What tests of take-overs share: a person's way to the machine, and what is looked at afterwards."""

from typing import Any

from agents import takeover
from agents.models import Branch
from agents.takeover import Stage
from godhand_web.models import User
from sandboxes.models import Machine
from tests.guest.waiting import eventually
from tests.providers.wire import WireServer
from tests.providers.wire.replies import message, use
from traces.models import Event


def done() -> dict[str, Any]:
    return message(use("done", summary="It is done."))


def acts(branch: Branch) -> bool:
    return Event.objects.filter(trace=branch.run.trace_id, fate="intent").exists()


def taken(row: Machine, person: User, *, interrupt: bool = False) -> list[Stage]:
    """The stages on the way, each once."""
    stages: list[Stage] = []

    def is_there() -> bool:
        stage = takeover.take(row, person, interrupt=interrupt)
        if stage not in stages:
            stages.append(stage)
        return stage is Stage.YOURS

    eventually(is_there, 20)
    return stages


def state(branch: Branch) -> str:
    branch.refresh_from_db()
    return branch.state


def told(wire: WireServer) -> tuple[str, list[str]]:
    """The last turn that the model was given: its words, and the types of its parts."""
    content = wire.last["messages"][-1]["content"]
    parts = [part for part in content if part["type"] != "tool_result"]
    return "".join(part.get("text", "") for part in parts), [part["type"] for part in parts]
