"""A small trace with everything in it, for what reads whole traces."""

import io

from PIL import Image, ImageDraw

from traces.events import Actor, Change, Finding, Kind, Outcome, Recorder, Sent
from traces.payloads import EventId, Sha256

from .conftest import RecorderOf, call, plan

SIZE = (320, 200)


def screen(number: int, size: tuple[int, int] = SIZE) -> bytes:
    """A picture that differs from all others."""
    picture = Image.new("RGB", size, (230, 225, 215))
    pen = ImageDraw.Draw(picture)
    pen.rectangle((20, 20, 20 + 8 * (number % 30), 90), fill=(40, 90, 200))
    pen.text((24, 110), f"screen {number}", fill=(10, 10, 10))
    out = io.BytesIO()
    picture.save(out, "webp", lossless=True)
    return out.getvalue()


def look(recorder: Recorder, number: int) -> Sha256:
    return recorder.picture(screen(number), "image/webp", *SIZE)


def tell(recorder_of: RecorderOf) -> None:
    """Two branches: on `main` a check fails, on `b1`, which has a hint, it passes."""
    main = recorder_of()
    main.message(Actor.HUMAN, "Pivot the sheet", turn=0, name="goal")
    main.event(Kind.OBSERVATION, Actor.SYSTEM, {"machine": "m1"}, name="machine")
    fork = act(main, 1, "Click", x=40, y=50, button=1, count=1)
    main.snapshot(snapshot="s1", backend="gvisor", keeps="disk+memory", size=5, ms=7, label="before the fork")
    fork = main.head or fork
    act(main, 2, "Drag", x=20, y=30, to_x=200, to_y=120, via=[[60, 60]])
    main.policy("network", "That address is not allowed.", action=fork)
    verify(main, Outcome.FAILED)
    other = recorder_of("b1", fork)
    other.message(Actor.HUMAN, "Try the menu", turn=1, name="hint")
    act(other, 3, "Type", text="=SUM(A1:A9)")
    act(other, 4, "Key", chord="ctrl+s", repeat=1)
    other.file(name="out.txt", path="/home/agent/out.txt", direction="out", sha256=other.blob(b"Sum: 45", "text/plain"))
    verify(other, Outcome.PASSED)


def act(recorder: Recorder, number: int, action: str, **more: object) -> EventId:
    (made,) = plan(recorder, call(action.lower(), number, **more), turn=number, raw={"z": 1, "a": [number]})
    recorder.intent(made, f"op-{number}", {"action": action, **more})
    before, after = look(recorder, number), look(recorder, number + 1)
    change = Change(0.1, [(20, 20, 60, 70)])
    recorder.done(made, ok=True, text="Done.", sent=Sent("Done.", after), before=before, after=after, change=change)
    return made


def verify(recorder: Recorder, outcome: Outcome) -> None:
    finding = Finding("sum", "screen_text", outcome, expected="45", actual="44", region=(10, 10, 50, 20))
    recorder.verify([finding], "done", picture=look(recorder, 9))
