"""The agents' worker is killed while a model thinks. Another goes on within its lease, and buys no reply twice."""

import os
import signal
from pathlib import Path

import pytest

from tests.home import TEST_HOME
from tests.providers.wire import KEY, WireServer

from .counting import COUNTED, Counting, outcome, submit
from .running import Installation

RESUMED_SECONDS = 45


def test_it_goes_on_in_another_worker_and_buys_no_reply_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    installation = Installation(TEST_HOME / tmp_path.name, {"ANTHROPIC_API_KEY": KEY})
    model = Counting(trouble=lambda: os.kill(installation.services()["agents"][0], signal.SIGKILL))
    with WireServer() as wire, installation.serving():
        wire.will(*[model.plays] * 10)
        result = outcome(installation, submit(installation, wire.anthropic_url))
    assert result["state"] == "succeeded"
    assert result["told"][:3] == COUNTED
    assert [name for name, *_ in result["told"][3:]] == ["done"]
    assert (len(result["replies"]), model.asked) == (4, [0, 1, 1, 2, 3])
    took = model.resumed - model.began
    with capsys.disabled():
        print(f" asked again after {took:.1f} s", end="")
    assert took < RESUMED_SECONDS
