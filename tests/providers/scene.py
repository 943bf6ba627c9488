"""A conversation for tests: a goal, a screen, two tools, and somebody who carries out every call."""

import io
import json
from collections.abc import Sequence
from typing import Any

from PIL import Image

from agents.providers.base import Provider, ToolSpec
from agents.turns import Answered, Call, Picture, Reply, Result, Said, Turn

SYSTEM = "You use a computer."
TOOLS = (
    ToolSpec("bash", "Run a command.", {"type": "object", "properties": {"command": {"type": "string"}}}),
    ToolSpec("done", "Say that the goal is reached.", {"type": "object", "properties": {}}),
)


def picture(width: int = 64, height: int = 40, shade: int = 0, media_type: str = "image/png") -> Picture:
    out = io.BytesIO()
    Image.new("RGB", (width, height), (shade % 256, 0, 0)).save(out, media_type.partition("/")[2])
    return Picture(out.getvalue(), media_type, width, height)


def goal(words: str = "Open the editor.") -> list[Turn]:
    return [Said((words, picture()))]


def carried_out(reply: Reply, shade: int = 1) -> Answered:
    """Every call succeeds; the last one has the screen."""
    shown = {len(reply.calls) - 1: picture(shade=shade)}
    return Answered(tuple(Result(call, "OK", shown.get(n)) for n, call in enumerate(reply.calls)))


def step(provider: Provider, turns: Sequence[Turn]) -> list[Turn]:
    """One more reply, carried out."""
    reply = provider.complete(SYSTEM, turns, TOOLS)
    return [*turns, reply, carried_out(reply, len(turns))] if reply.calls else [*turns, reply]


def reply_of(turns: Sequence[Turn]) -> Reply:
    return next(turn for turn in reversed(turns) if isinstance(turn, Reply))


def foreign_reply() -> Reply:
    """As a provider of another vendor would have given it."""
    click = Call("fc#0", "left_click", {"coordinate": [3, 4]}, "computer")
    odd = Call("fc#1", "run a command!", {"command": "ls"})
    return Reply("I click.", (click, odd), reasoning="secret", kind="another", raw={"theirs": 1})


def stored(turns: Sequence[Turn]) -> list[Turn]:
    """As a database gives them back that sorts the keys of objects."""
    return [_sorted(turn) if isinstance(turn, Reply) else turn for turn in turns]


def _sorted(reply: Reply) -> Reply:
    return Reply(
        reply.text,
        reply.calls,
        reply.reasoning,
        reply.usage,
        reply.cost,
        reply.kind,
        reply.model,
        json.loads(json.dumps(reply.raw, sort_keys=True)),
    )


def is_prefix(shorter: Any, longer: Any) -> bool:
    """In bytes, up to the bracket that closes the list."""
    return json.dumps(longer).startswith(json.dumps(shorter)[:-1])
