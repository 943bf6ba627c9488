"""Traces to look at, written through the recorder. Run as a program in the environment of a `Site`."""

import io
import json
import os
import sys
from collections.abc import Sequence
from datetime import timedelta
from functools import cache
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "godhand_web.settings")
django.setup()

from PIL import Image, ImageDraw  # noqa: E402

from godhand_web.models import User  # noqa: E402
from traces import lifecycle  # noqa: E402
from traces.events import Actor, Change, Finding, Kind, Outcome, Recorder, Sent  # noqa: E402
from traces.models import Event, Trace  # noqa: E402
from traces.payloads import CallData, EventId, Sha256, UsageData  # noqa: E402
from traces.queries import head_of  # noqa: E402
from traces.recorder import DatabaseRecorder  # noqa: E402
from traces.screens import store_read  # noqa: E402

HOSTILE = """"'><img src=x onerror=alert(1)><script>alert(2)</script>{{ 7 }}"""
USAGE: UsageData = {"input": 244, "output": 96, "cache_read": 1870, "cache_write": 0}
Box = tuple[int, int, int, int]


@cache
def screen(windows: int, text: str = "") -> bytes:
    """A desktop with so many windows, and a text in the last one."""
    image = Image.new("RGB", (1280, 800), "#b9c4c0")
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 772, 1280, 800), fill="#2b2f33")
    for number in range(windows):
        x, y = 120 + 140 * number, 70 + 60 * number
        draw.rectangle((x, y, x + 560, y + 380), fill="#fbfaf7", outline="#555")
        draw.rectangle((x, y, x + 560, y + 28), fill="#41464b")
        draw.text((x + 12, y + 8), f"Window {number + 1}", fill="#fff")
        draw.text((x + 24, y + 60), text if number == windows - 1 else "…", fill="#222")
    out = io.BytesIO()
    image.save(out, "WEBP", lossless=True, method=0)
    return out.getvalue()


class Story:
    """Writes one branch, a step a line."""

    def __init__(self, trace: Trace, branch: str = "main", head: EventId | None = None) -> None:
        self.recorder: Recorder = DatabaseRecorder(trace, branch, lambda: None, head)
        self.turn, self.shown = 0, self.see(screen(1))

    def see(self, webp: bytes) -> Sha256:
        return self.recorder.picture(webp, "image/webp", 1280, 800)

    def plan(self, name: str, given: dict[str, Any], thought: str, toolset: str) -> EventId:
        self.turn += 1
        call: CallData = {"id": f"call_{self.turn}", "name": name, "input": given, "toolset": toolset}
        return self.recorder.reply(
            {"role": "assistant", "content": [{"type": "text", "text": thought}]},
            turn=self.turn,
            text=f"I {name} now.",
            reasoning=thought,
            usage=USAGE,
            cost=0.012,
            provider="scripted",
            model="demo-1",
            calls=[call],
        ).actions[0]

    def act(
        self,
        act: dict[str, Any],
        webp: bytes,
        *,
        thought: str = "This is the way to go on.",
        boxes: Sequence[Box] = (),
        ok: bool = True,
        text: str = "",
    ) -> EventId:
        action = self.plan(act["action"].lower(), act, thought, "computer")
        before, self.shown = self.shown, self.see(webp)
        self.recorder.intent(action, f"op{self.turn}", act)
        self.recorder.done(
            action,
            ok=ok,
            text=text,
            sent=Sent(text, self.shown, ok),
            before=before,
            after=self.shown,
            change=Change(0.021 if boxes else 0.0, boxes),
            settle_ms=182,
        )
        return action

    def bash(self, command: str, output: str, *, ok: bool = True) -> EventId:
        action = self.plan("bash", {"command": command}, "A command is quicker.", "machine")
        self.recorder.intent(action, f"op{self.turn}", {})
        sent = Sent(output, None, ok)
        self.recorder.done(action, ok=ok, text=output, sent=sent, before=self.shown, after=self.shown)
        return action

    def click(self, x: int, y: int, webp: bytes, **more: Any) -> EventId:
        return self.act({"action": "Click", "x": x, "y": y, "button": 1, "count": 1}, webp, **more)

    def check(self, *findings: Finding) -> EventId:
        return self.recorder.verify(findings, "done", picture=self.shown)

    def snapshot(self, label: str) -> EventId:
        return self.recorder.snapshot(
            snapshot=f"s{self.turn}", backend="gvisor", keeps="disk+memory", size=3 << 20, ms=210, label=label
        )


TOTAL = Finding("total_row", "screen_text", Outcome.FAILED, "4,210", "4,120", (260, 180, 300, 40), 0.61)
SAVED = Finding("saved", "file", Outcome.PASSED, "report.xlsx", "report.xlsx")
RIGHT = Finding("total_row", "screen_text", Outcome.PASSED, "4,210", "4,210", (260, 180, 300, 40), 0.98)


def pivot(owner: User) -> Trace:
    """Three branches: one fails, the second wins, and in the third somebody helps."""
    trace = lifecycle.begin(
        owner, title="Pivot the sales sheet by region and month, with charts", meta={"model": "demo"}
    )
    main = Story(trace)
    main.recorder.message(Actor.HUMAN, "Pivot the sales sheet by region and month.", turn=0, name="goal")
    data = main.recorder.blob(b"region,month,sum\nnorth,1,4210\n", "text/csv")
    main.recorder.file(name="sales.csv", path="/home/agent/sales.csv", direction="in", sha256=data, actor=Actor.HUMAN)
    for number in range(6):
        box = (120 + 140 * (number % 3), 70, 560, 380)
        main.click(300 + 40 * number, 200, screen(1 + number % 3, f"row {number}"), boxes=[box])
    fork = main.snapshot("before the edit")
    main.act({"action": "Type", "text": "=SUM(B2:B13)"}, screen(2, "=SUM(B2:B13)"), boxes=[(284, 190, 200, 20)])
    drag = {"action": "Drag", "x": 300, "y": 240, "to_x": 620, "to_y": 420, "via": [(400, 260)]}
    main.act(drag, screen(2, "moved"), boxes=[(260, 130, 560, 380)])
    main.check(TOTAL, SAVED)
    second = Story(trace, "b1", fork)
    second.bash("python3 pivot.py", "pivoted 12 rows\n")
    for number in range(8):
        second.click(500, 300 + 20 * number, screen(3, f"chart {number}"), boxes=[(400, 190, 300, 200)])
    store_read(second.shown, [("Quarterly invoice of the north", 420, 250, 200, 20)])
    report = second.recorder.blob(b"PK\x03\x04 a workbook", "application/vnd.ms-excel")
    second.recorder.file(name="report.xlsx", path="/home/agent/report.xlsx", direction="out", sha256=report)
    second.check(RIGHT, SAVED)
    third = Story(trace, "b2", fork)
    third.click(90, 90, screen(1, "no such file"), ok=False, text="There is nothing there.")
    third.recorder.event(Kind.TAKEOVER, Actor.HUMAN, {"text": "A person drove for 1 min 12 s"}, name="takeover")
    lifecycle.mark(trace.pk, "failed", ended=True)
    pace(trace, timedelta(milliseconds=20))
    return trace


def pace(trace: Trace, beat: timedelta) -> None:
    """So long from one event to the next, however long it took to write them."""
    events = list(trace.events.order_by("seq"))
    for event in events:
        event.started_at = trace.created_at + event.seq * beat
        event.ended_at = event.ended_at and event.started_at + beat / 2
    Event.objects.bulk_update(events, ["started_at", "ended_at"])


def hostile(owner: User) -> Trace:
    trace = lifecycle.begin(owner, title=HOSTILE, meta={})
    story = Story(trace, branch=HOSTILE[:40])
    story.recorder.message(Actor.HUMAN, f"{HOSTILE} \ud83d half", turn=0, name="goal")
    file = story.recorder.blob(HOSTILE.encode(), "text/html")
    story.recorder.file(name=HOSTILE, path=HOSTILE, direction="out", sha256=file)
    story.act({"action": "Type", "text": HOSTILE}, screen(1), thought=HOSTILE, text=HOSTILE)
    story.bash(HOSTILE, HOSTILE, ok=False)
    story.check(Finding(HOSTILE, HOSTILE, Outcome.FAILED, HOSTILE, HOSTILE, (10, 10, 50, 50), 0.5, HOSTILE))
    store_read(story.shown, [(HOSTILE, 1, 1, 2, 2)])
    return trace


def running(owner: User) -> Trace:
    trace = lifecycle.begin(owner, title="Still going on", meta={})
    lifecycle.mark(trace.pk, "running")
    story = Story(trace)
    story.recorder.message(Actor.HUMAN, "Go on for ever.", turn=0, name="goal")
    for number in range(3):
        story.click(200 + number, 200, screen(1, f"step {number}"))
    return trace


def more(trace_id: str) -> None:
    trace = Trace.objects.get(pk=trace_id)
    story = Story(trace, head=head_of(trace.pk, "main"))
    story.click(640, 400, screen(2, "one more"), thought="Because the test says so.")


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["all", name]:
            person = User.objects.get(username=name)
            made = {"pivot": pivot(person), "hostile": hostile(person), "running": running(person)}
            json.dump({name: trace.pk for name, trace in made.items()}, sys.stdout)
        case ["more", trace_id]:
            more(trace_id)
        case ["end", trace_id, state]:
            lifecycle.mark(trace_id, state, ended=True)
