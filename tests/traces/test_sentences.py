from typing import Any

import pytest

from traces.events import Recorder
from traces.models import Trace
from traces.queries import all_events
from traces.steps import steps_of

from .conftest import RecorderOf, call, plan


def said(trace: Trace) -> str:
    return steps_of(all_events(trace.pk))[-1].sentence


def begin(recorder: Recorder, name: str, act: dict[str, Any], **given: Any) -> None:
    (action,) = plan(recorder, call(name, **given))
    recorder.intent(action, "op", act)


def test_it_says_where_it_was_cut(recorder: Recorder, trace: Trace) -> None:
    plan(recorder, call("bash", command="true; " * 30))
    assert said(trace).endswith("true; t… (planned)")


@pytest.mark.parametrize(("text", "shown"), [("October\n", "“October⏎”"), ("a\nb", "“a⏎b”"), ("October", "“October”")])
def test_it_shows_ends_of_lines_that_were_typed(recorder_of: RecorderOf, trace: Trace, text: str, shown: str) -> None:
    recorder = recorder_of()
    plan(recorder, call("type", text=text))
    assert said(trace) == f"Type {shown} (planned)"
    begin(recorder, "type", {"action": "Type", "text": text}, text=text)
    assert said(trace) == f"Typed {shown} …"
