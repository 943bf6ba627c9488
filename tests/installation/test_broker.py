"""Redis is shut down under a whole installation, and comes back empty after fifteen seconds."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from tests.broker import Broker
from tests.home import TEST_HOME
from tests.providers.wire import KEY, Request, WireServer
from tests.providers.wire.replies import message, use

from .running import Installation

AWAY = 15.0
LATE_SECONDS = 30
"""Fifteen for the outage, and as many for the run itself, which one that was submitted meanwhile has yet to make."""
SUBMIT = """
import json, time
from agents.api import submit, wait
from godhand_web.management.commands.loginlink import owner
from traces.models import Event
run = submit(owner(), "GOAL", provider="anthropic", options={"model": "claude-opus-5-5", "base_url": "URL"})
wait(run, 180)
ended = time.time()
seqs = list(Event.objects.filter(trace=run.trace_id).order_by("seq").values_list("seq", flat=True))
print("RESULT" + json.dumps({"state": run.state, "seqs": seqs, "ended": ended}))
"""


class Outage:
    """Begins when a model is asked for the first time, and lasts as long as it has to."""

    def __init__(self, broker: Broker) -> None:
        self.broker, self.began, self.over = broker, threading.Event(), threading.Event()
        self.ended = 0.0

    def plays(self, request: Request) -> dict[str, Any]:
        """The model of a run that is under way from before the outage until after it; others just finish."""
        said = sum(turn["role"] == "assistant" for turn in request.body["messages"])
        if "through" not in str(request.body["messages"][0]) or said == 3:
            return message(use("done", summary="Done."))
        if said == 0:
            self.begin()
        if said == 2:
            self.over.wait(60)
        return message(use("bash", command=f"echo {said}"))

    def begin(self) -> None:
        self.broker.stop()
        threading.Timer(AWAY, self.end).start()
        self.began.set()

    def end(self) -> None:
        self.broker.start()
        self.ended = time.time()
        self.over.set()


def test_it_outlives_a_redis_that_forgets_everything(
    tmp_path: Path, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    home = TEST_HOME / tmp_path.name
    broker = Broker(home / "broker")
    installation = Installation(home, {"ANTHROPIC_API_KEY": KEY, "GODHAND_REDIS_URL": broker.url})
    broker.directory.mkdir()
    broker.start()
    outage = Outage(broker)
    with WireServer() as wire, ThreadPoolExecutor() as pool:
        wire.will(*[outage.plays] * 10)

        def submit(goal: str) -> dict[str, Any]:
            code = SUBMIT.replace("URL", wire.anthropic_url).replace("GOAL", goal)
            printed = installation.call("manage", "shell", "-c", code, timeout=200)
            assert "RESULT" in printed.stdout, printed.stderr
            result: dict[str, Any] = json.loads(printed.stdout.rpartition("RESULT")[2])
            return result

        up = installation.up()
        try:
            up.wait_for_link()
            page = browser.new_page()
            page.goto(installation.login_link())
            page.wait_for_url(f"{installation.url}/")
            dot = page.locator("[data-conn]")
            expect(dot).to_have_attribute("data-state", "connected")
            through = pool.submit(submit, "Work through it.")
            assert outage.began.wait(90)
            during = pool.submit(submit, "Begin while it is away.")
            expect(dot).to_have_attribute("data-state", "waiting", timeout=10_000)
            expect(dot).to_have_attribute("data-state", "connected", timeout=60_000)
            results = {"under way": through.result(), "submitted meanwhile": during.result()}
        finally:
            outage.over.set()
            up.stop()
            installation.call("down")
            broker.stop()
    for result in results.values():
        assert result["state"] == "succeeded"
        assert result["seqs"] == list(range(1, len(result["seqs"]) + 1))
    late = {name: round(result["ended"] - outage.ended, 1) for name, result in results.items()}
    with capsys.disabled():
        print(f" ended after Redis was back: {late} s", end="")
    assert max(late.values()) < LATE_SECONDS, late
