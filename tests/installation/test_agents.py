"""An agent that owns its machine, in a whole installation: it saves it, goes back, and forks the task."""

import json
import re
from pathlib import Path
from typing import Any

from tests.home import TEST_HOME
from tests.providers.wire import KEY, Request, WireServer
from tests.providers.wire.replies import message, use

from .running import Installation

SUBMIT = """
import json, sys
from agents.api import submit, wait
from agents.models import Branch
from agents.models import ENDED
from godhand_web.management.commands.loginlink import owner
from traces.models import Event
import time
run = submit(owner(), "Look after your machine.", provider="anthropic",
             options={"model": "claude-opus-5-5", "base_url": "URL"})
wait(run, 180)
deadline = time.monotonic() + 120
while Branch.objects.filter(run=run).exclude(state__in=ENDED).exists() and time.monotonic() < deadline:
    time.sleep(0.1)
told = {
    branch.name: [
        event.result["sent"]["text"]
        for event in Event.objects.filter(trace=run.trace_id, branch=branch.name, kind="action").order_by("seq")
    ]
    for branch in run.branches.all()
}
states = {branch.name: branch.state for branch in run.branches.all()}
print("RESULT" + json.dumps({"told": told, "states": states}))
"""


def bash(command: str) -> dict[str, Any]:
    return message(use("bash", command=command))


def done() -> dict[str, Any]:
    return message(use("done", summary="Looked after."))


def test_it_saves_goes_back_and_forks(tmp_path: Path) -> None:
    installation = Installation(TEST_HOME / tmp_path.name, {"ANTHROPIC_API_KEY": KEY})
    with WireServer() as wire, installation.serving():
        wire.will(*[plays] * 30)
        result = installation.told(SUBMIT.replace("URL", wire.anthropic_url), timeout=400)
    assert result["states"] == {"main": "succeeded", "b1": "succeeded", "b2": "succeeded"}
    assert result["told"]["main"][4] == "one\n"
    assert (result["told"]["b1"][0], result["told"]["b2"][0]) == ("one left\n", "one right\n")
    assert wire.refusals == []


def plays(request: Request) -> dict[str, Any]:
    """A model with a plan: what it does next follows from how much it has said, and from the hint it got."""
    messages = request.body["messages"]
    heard = json.dumps(messages)
    said = sum(turn["role"] == "assistant" for turn in messages)
    if hint := re.search(r"Go on from here this way: (\w+)", heard):
        return bash(f"echo $(cat state) {hint[1]}") if said == 5 else done()
    if said == 3:
        saved = re.search(r"Saved as (\w+)", heard)
        return message(use("machine", verb="restore", snapshot=saved[1] if saved else ""))
    plan = {
        0: bash("echo one > state"),
        1: message(use("machine", verb="snapshot", label="one")),
        2: bash("echo two > state"),
        4: bash("cat state"),
        5: message(use("machine", verb="fork", alternatives=["left", "right"])),
    }
    return plan.get(said) or done()
