"""A conversation with a script, whose machine is this test."""

import base64
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from agents.providers.scripted import ScriptedOptions, ScriptedProvider
from agents.turns import Answered, Call, Picture, Reply, Result, Said, Turn, Usage

SIZE = (800, 280)
ROW = 80
WAITING = """
[[step]]
wait_for = "Ready"
tries = 3
every = 0.5
{otherwise}
say = "It is ready."

[[step]]
label = "late"
say = "It is late."
"""


def drawn(*texts: str) -> Picture:
    """A screen with a text in each row, from the left."""
    image = Image.new("RGB", SIZE, "white")
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(size=22)
    for number, text in enumerate(texts):
        pen.text((60, 40 + ROW * number), text, fill="black", font=font)
    out = io.BytesIO()
    image.save(out, "png")
    return Picture(out.getvalue(), "image/png", *SIZE)


def scripted(script: Any, **more: Any) -> ScriptedProvider:
    return ScriptedProvider(ScriptedOptions(script, **more))


class Talk:
    """`ask` is one reply; `answer` gives its calls their results, the last of them with a picture."""

    def __init__(self, provider: ScriptedProvider, *goal: str | Picture) -> None:
        self.provider = provider
        self.turns: list[Turn] = [Said(goal or ("Do it.",))]

    def ask(self) -> Reply:
        reply = self.provider.complete("", self.turns, [])
        self.turns.append(reply)
        return reply

    def answer(self, text: str = "OK", picture: Picture | None = None, *, ok: bool = True) -> None:
        reply = self.turns[-1]
        assert isinstance(reply, Reply)
        results = [Result(call, "OK") for call in reply.calls[:-1]]
        self.turns.append(Answered((*results, Result(reply.calls[-1], text, picture, ok))))

    def tell(self, *parts: str | Picture) -> None:
        self.turns.append(Said(parts))

    def words(self, count: int) -> list[str]:
        """Of so many replies, each answered with OK."""
        said = []
        for _ in range(count):
            reply = self.ask()
            said.append(reply.text)
            if reply.calls:
                self.answer()
        return said


def stored(turns: Sequence[Turn]) -> list[Turn]:
    """The same turns, as they come back from where only JSON is kept."""
    kept = json.dumps([{"turn": type(turn).__name__, **asdict(turn)} for turn in turns], default=_text)
    return [_turn(table) for table in json.loads(kept)]


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _turn(table: dict[str, Any]) -> Turn:
    kind = table.pop("turn")
    if kind == "Said":
        return Said(tuple(part if isinstance(part, str) else _picture(part) for part in table["parts"]))
    if kind == "Answered":
        return Answered(tuple(_result(result) for result in table["results"]))
    calls = tuple(Call(**call) for call in table.pop("calls"))
    return Reply(**{**table, "calls": calls, "usage": Usage(**table["usage"])})


def _result(table: dict[str, Any]) -> Result:
    picture = table["picture"] and _picture(table["picture"])
    return Result(Call(**table["call"]), table["text"], picture, table["ok"])


def _picture(table: dict[str, Any]) -> Picture:
    return Picture(**{**table, "data": base64.b64decode(table["data"])})
