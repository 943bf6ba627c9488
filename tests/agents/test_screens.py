"""Which screen a model is shown with the answers to a batch, and takes its next coordinates from."""

import base64
import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from agents import runner
from agents.models import Branch, State
from tests.providers.wire import WireServer
from tests.providers.wire.replies import action, computer_call, function_call, message, response, use
from traces.models import Event

from .conftest import Submit
from .story import drive, told

pytestmark = pytest.mark.django_db(transaction=True)
OPEN = (
    "(zenity --info --title=Spring --text=Summer >/dev/null 2>&1 &); "
    "xdotool search --sync --onlyvisible --name Spring; wmctrl -a Spring"
)
CLOSE = {"type": "keypress", "keys": ["ESC"]}
OUTSIDE = {"type": "click", "button": "left", "x": 9999, "y": 1}
DONE = response(function_call("done", summary="Done."))


@pytest.fixture
def branch(submit: Submit, wire: WireServer) -> Branch:
    return submit(provider="openai", options={"model": "gpt-5.6", "base_url": wire.openai_url, "timeout": 20.0})


def screenshots(wire: WireServer) -> list[Any]:
    """Of the answers to computer calls, in the last request."""
    items = [item for item in wire.last["input"] if item["type"] == "computer_call_output"]
    data = [base64.b64decode(item["output"]["image_url"].partition(",")[2]) for item in items]
    return [np.asarray(Image.open(io.BytesIO(one)).convert("RGB")).astype(int) for one in data]


def differ(one: Any, two: Any) -> bool:
    """By a window, and not by a clock."""
    return bool(one.shape != two.shape or (np.abs(one - two).max(axis=2) > 20).mean() > 0.01)


def sent(branch: Branch, name: str) -> list[bool]:
    """Whether the model was sent a picture with each call of that name."""
    events = Event.objects.filter(trace=branch.run.trace_id, kind="action", name=name).order_by("seq")
    return [bool(event.result["sent"]["picture"]) for event in events if event.result]


def test_it_shows_what_was_done_before_an_action_that_is_refused(branch: Branch, wire: WireServer) -> None:
    look = response(computer_call({"type": "screenshot"}))
    wire.will(look, response(function_call("bash", command=OPEN)), look)
    wire.will(response(computer_call(CLOSE, {"type": "move", "x": 9, "y": 9}, OUTSIDE)), DONE)
    assert drive(branch).state == State.SUCCEEDED, branch.detail
    assert "x must be a number" in told(branch, "left_click")[0]
    bare, dialog, closed = screenshots(wire)
    assert differ(bare, dialog)
    assert differ(dialog, closed)
    assert not differ(bare, closed)
    assert (sent(branch, "key"), sent(branch, "left_click")) == ([False], [True])


def test_it_shows_the_whole_screen_beside_a_zoomed_part(branch: Branch, wire: WireServer) -> None:
    look = response(computer_call({"type": "screenshot"}))
    zoom = function_call("zoom", region=[0, 0, 64, 40])
    wire.will(look, response(computer_call({"type": "move", "x": 9, "y": 9}), zoom), DONE)
    assert drive(branch).state == State.SUCCEEDED, branch.detail
    first, second = screenshots(wire)
    assert not differ(first, second)
    assert (sent(branch, "mouse_move"), sent(branch, "zoom")) == ([True], [True])


def test_it_takes_no_new_picture_where_nothing_was_done(branch: Branch, wire: WireServer) -> None:
    wire.will(response(computer_call(OUTSIDE, CLOSE)), DONE)
    assert drive(branch).state == State.SUCCEEDED, branch.detail
    assert (sent(branch, "left_click"), sent(branch, "key")) == ([False], [False])


def test_it_rebuilds_a_refusal_with_its_picture(submit_to_claude: Submit, wire: WireServer) -> None:
    branch = submit_to_claude()
    wire.will(message(use("bash", command="true"), action("left_click", coordinate=[9999, 1])))
    wire.will(message(use("done", summary="Done.")))
    assert drive(branch).state == State.SUCCEEDED, branch.detail
    assert wire.refusals == []
    refused = wire.last["messages"][-1]["content"][-1]
    assert [block["type"] for block in refused["content"]] == ["text", "image"]
    assert refused["content"][0]["text"].startswith("Error: ")
    kept = runner.conversation(branch).turns[2].results[-1].picture  # type: ignore[union-attr]
    assert kept
    assert base64.b64encode(kept.data).decode() == refused["content"][1]["source"]["data"]
