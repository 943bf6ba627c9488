"""The agents' worker is killed while a model thinks. Another goes on within its lease, and buys no reply twice."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from tests.home import TEST_HOME
from tests.providers.wire import KEY, Request, WireServer
from tests.providers.wire.replies import message, use

from .running import Installation

RESUMED_SECONDS = 45
COUNT = "echo x >> once; wc -l < once"
SUBMIT = """
import json
from agents.api import submit, wait
from godhand_web.management.commands.loginlink import owner
from traces.models import Event
run = submit(owner(), "Count.", provider="anthropic", options={"model": "claude-opus-5-5", "base_url": "URL"})
wait(run, 180)
events = Event.objects.filter(trace=run.trace_id).order_by("seq")
told = [(event.name, event.fate, event.result["sent"]["text"]) for event in events if event.kind == "action"]
replies = [event.turn for event in events if event.name == "reply"]
print("RESULT" + json.dumps({"state": run.state, "told": told, "replies": replies}))
"""


class Thinking:
    """A model that counts to three. Whoever asks it for the second time first dies while it thinks."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.asked: list[int] = []
        self.killed = self.resumed = 0.0

    def plays(self, request: Request) -> dict[str, Any]:
        said = sum(turn["role"] == "assistant" for turn in request.body["messages"])
        self.asked.append(said)
        if said == 1 and not self.killed:
            os.kill(self.installation.services()["agents"][0], signal.SIGKILL)
            self.killed = time.monotonic()
        elif said == 1:
            self.resumed = time.monotonic()
        return message(use("bash", command=COUNT) if said < 3 else use("done", summary="Counted."))


def test_it_goes_on_in_another_worker_and_buys_no_reply_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installation = Installation(TEST_HOME / tmp_path.name, {"ANTHROPIC_API_KEY": KEY})
    thinking = Thinking(installation)
    with WireServer() as wire, installation.serving():
        wire.will(*[thinking.plays] * 10)
        result = installation.told(SUBMIT.replace("URL", wire.anthropic_url), timeout=300)
    counted = [["bash", "done", f"{number}\n"] for number in (1, 2, 3)]
    assert result["state"] == "succeeded"
    assert result["told"][:3] == counted
    assert [name for name, *_ in result["told"][3:]] == ["done"]
    assert (len(result["replies"]), thinking.asked) == (4, [0, 1, 1, 2, 3])
    took = thinking.resumed - thinking.killed
    with capsys.disabled():
        print(f" asked again after {took:.1f} s", end="")
    assert took < RESUMED_SECONDS
