"""A small trace with two branches, pictures, a file and a check, for tests of what is made of it."""

import io

from PIL import Image, ImageDraw, ImageFont

from traces.events import Actor, Finding, Outcome, Recorder, Sent
from traces.payloads import EventId, Sha256
from traces.pictures import Masked, burn

from .conftest import RecorderOf, call, plan

MAIL = "ann@example.org"
WORD = "Blue Heron Ltd"
SIZE = (320, 200)


def screen(text: str = "") -> bytes:
    picture = Image.new("RGB", SIZE, "#e8e6e1")
    ImageDraw.Draw(picture).text((10, 90), text, fill="#222222", font=ImageFont.load_default(20))
    out = io.BytesIO()
    picture.save(out, "webp", lossless=True)
    return out.getvalue()


def seen(recorder: Recorder, text: str = "") -> Sha256:
    return recorder.picture(screen(text), "image/webp", *SIZE)


def step(recorder: Recorder, number: int, *, turn: int, said: str = "Done.") -> EventId:
    """One click on a screen of its own, with what was answered."""
    (action,) = plan(recorder, call("left_click", number, coordinate=[1, 2]), turn=turn, raw={"raw": WORD})
    recorder.intent(action, f"op{number}", {"action": "Click", "x": 1, "y": 2})
    after = seen(recorder, f"screen {number}")
    recorder.done(action, ok=True, text=said, sent=Sent(said, after), before=seen(recorder, "start"), after=after)
    return action


def story(recorder_of: RecorderOf) -> None:
    """main: goal, two steps, a file, a check; b1 forks after the first step and makes one of its own."""
    main = recorder_of()
    main.message(Actor.HUMAN, f"Write to {MAIL} about {WORD}.", turn=0, name="goal")
    fork = step(main, 1, turn=1)
    step(main, 2, turn=2, said=f"Sent to {MAIL}.")
    note = main.blob(f"To {WORD}: hello".encode(), "text/plain")
    main.file(name=f"{WORD}.txt", path=f"/home/agent/{WORD}.txt", direction="out", sha256=note)
    main.verify([Finding("sent", "file_exists", Outcome.PASSED, detail=WORD)], "done", picture=seen(main, "screen 2"))
    main.policy("network", f"Not to {WORD}.", action=fork)
    step(recorder_of("b1", head=fork), 3, turn=2)


def masks_everything_after_the_start(data: bytes, media_type: str) -> Masked:
    """A mask that needs no reading: all but the first screen has something to hide."""
    if data == screen("start"):
        return Masked(data, media_type)
    with Image.open(io.BytesIO(data)) as picture:
        return Masked(*burn(picture, [(0, 80, *SIZE)]), 1)
