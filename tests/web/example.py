"""A small trace of the kind an agent leaves behind: a try that fails its check, and a fork of it that passes."""

import io
from collections.abc import Sequence
from functools import cache
from typing import Any

from PIL import Image, ImageDraw

from godhand_web.models import User
from traces import lifecycle
from traces.events import Actor, Change, Finding, Outcome, Recorder, Sent
from traces.models import Trace
from traces.payloads import CallData, Sha256, UsageData
from traces.recorder import DatabaseRecorder
from traces.sentences import BEFORE_HINT

SIZE = (1280, 800)
USAGE: UsageData = {"input": 1800, "output": 96, "cache_read": 1200, "cache_write": 0}

Act = dict[str, Any]
SAVE: Act = {"action": "Click", "x": 640, "y": 400, "button": 1, "count": 1, "holding": ""}
FILE: Act = {**SAVE, "x": 60, "y": 40}


def example_trace(owner: User, title: str = "Pivot the sales sheet by region") -> Trace:
    trace = lifecycle.begin(owner, title=title, meta={"goal": title, "model": "demo", "provider": "scripted"})
    main = DatabaseRecorder(trace, "main", lambda: None, None)
    main.message(Actor.HUMAN, title, turn=0, name="goal")
    step(main, 1, FILE)
    step(main, 2, {"action": "Type", "text": "=SUM(B2:B9)"})
    fork = main.head
    main.snapshot(snapshot="s1", backend="gvisor", keeps="disk+memory", size=10**8, ms=400, label="before saving")
    step(main, 3, SAVE)
    step(main, 4, {"action": "Key", "chord": "Return", "repeat": 1})
    checked(main, Outcome.PASSED, Outcome.FAILED)
    other = DatabaseRecorder(trace, "b1", lambda: None, fork)
    other.message(Actor.SYSTEM, f"You are one of two. {BEFORE_HINT}use pandas instead", turn=2, name="hint")
    step(other, 3, {**SAVE, "x": 652})
    tool(other, 4, "bash", command="python3 pivot.py")
    handed = other.blob(b"region,month\n", "text/csv")
    other.file(name="pivot.csv", path="/home/agent/pivot.csv", direction="out", sha256=handed)
    checked(other, Outcome.PASSED, Outcome.PASSED)
    lifecycle.mark(trace.pk, "succeeded", ended=True)
    return trace


def single_branch(owner: User, title: str = "Open the editor") -> Trace:
    trace = lifecycle.begin(owner, title=title, meta={"goal": title})
    recorder = DatabaseRecorder(trace, "main", lambda: None, None)
    recorder.message(Actor.HUMAN, title, turn=0, name="goal")
    step(recorder, 1, FILE)
    lifecycle.mark(trace.pk, "failed", ended=True)
    return trace


def step(recorder: Recorder, turn: int, act: Act) -> None:
    call: CallData = {"id": f"c{turn}", "name": act["action"].lower(), "input": act, "toolset": "computer"}
    one_call(recorder, turn, call, act)


def tool(recorder: Recorder, turn: int, name: str, **given: Any) -> None:
    one_call(recorder, turn, {"id": f"c{turn}", "name": name, "input": given, "toolset": "machine"}, {})


def one_call(recorder: Recorder, turn: int, call: CallData, act: Act) -> None:
    (action,) = recorder.reply(
        {"content": [call]},
        turn=turn,
        text="On to the next part.",
        reasoning="The button is where it should be.",
        usage=USAGE,
        cost=0.012,
        provider="scripted",
        model="demo",
        calls=[call],
    ).actions
    before, after = desktop(recorder, turn), desktop(recorder, turn + 1)
    recorder.intent(action, f"op{turn}", act)
    change = Change(0.021, [(240, 120 + 40 * turn, 300, 40)])
    recorder.done(
        action, ok=True, text="", sent=Sent("", after), before=before, after=after, change=change, settle_ms=180
    )


def checked(recorder: Recorder, *outcomes: Outcome) -> None:
    recorder.verify(findings(outcomes), "end", picture=desktop(recorder, 9))


def findings(outcomes: Sequence[Outcome]) -> list[Finding]:
    names = ("total_row", "saved")
    return [
        Finding(name, "screen_text", outcome, "42", "42" if outcome == Outcome.PASSED else "41", (240, 160, 300, 40))
        for name, outcome in zip(names, outcomes, strict=True)
    ]


def desktop(recorder: Recorder, lines: int) -> Sha256:
    return recorder.picture(drawn(lines), "image/webp", *SIZE)


@cache
def drawn(lines: int) -> bytes:
    screen = Image.new("RGB", SIZE, "#c9c4ba")
    pen = ImageDraw.Draw(screen)
    pen.rectangle((200, 80, 1080, 720), fill="#fbfbf9", outline="#55524c", width=2)
    pen.rectangle((200, 80, 1080, 112), fill="#3c4043")
    for line in range(lines):
        pen.rectangle((240, 140 + 40 * line, 420 + 60 * line, 160 + 40 * line), fill="#6f7780")
    out = io.BytesIO()
    screen.save(out, "WEBP", method=0)
    return out.getvalue()
