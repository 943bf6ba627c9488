"""A model that counts to three on a real machine, and what befalls whoever asks it for the second time."""

import time
from collections.abc import Callable
from typing import Any

from tests.providers.wire import Request
from tests.providers.wire.replies import message, use

from .running import Installation

COUNT = "echo x >> once; wc -l < once"
COUNTED = [["bash", "done", f"{number}\n"] for number in (1, 2, 3)]
SUBMIT = """
import json
from agents.api import submit
from godhand_web.management.commands.loginlink import owner
run = submit(owner(), "Count.", provider="anthropic", options={"model": "claude-opus-5-5", "base_url": "URL"})
print("RESULT" + json.dumps(run.pk))
"""
OUTCOME = """
import json
from agents.api import wait
from agents.models import Run
from traces.models import Event
run = Run.objects.get(pk="RUN")
wait(run, 180)
events = Event.objects.filter(trace=run.trace_id).order_by("seq")
told = [(event.name, event.fate, event.result["sent"]["text"]) for event in events if event.kind == "action"]
replies = [event.turn for event in events if event.name == "reply"]
seqs = [event.seq for event in events]
print("RESULT" + json.dumps({"state": run.state, "told": told, "replies": replies, "seqs": seqs}))
"""


class Counting:
    def __init__(self, trouble: Callable[[], None]) -> None:
        self.trouble = trouble
        self.asked: list[int] = []
        self.began = self.resumed = 0.0

    def plays(self, request: Request) -> dict[str, Any]:
        said = sum(turn["role"] == "assistant" for turn in request.body["messages"])
        self.asked.append(said)
        if said == 1 and not self.began:
            self.trouble()
            self.began = time.monotonic()
        elif said == 1:
            self.resumed = time.monotonic()
        return message(use("bash", command=COUNT) if said < 3 else use("done", summary="Counted."))


def submit(installation: Installation, url: str) -> str:
    run: str = installation.told(SUBMIT.replace("URL", url), timeout=100)
    return run


def outcome(installation: Installation, run: str) -> dict[str, Any]:
    """Once it has ended."""
    found: dict[str, Any] = installation.told(OUTCOME.replace("RUN", run), timeout=300)
    return found
