"""Claude, through Anthropic's Messages API.

What was told once is told again in the same bytes; only the marks for the cache move. The service keeps the prompt
up to four marks: the system and the tools, and the last answers of the three latest turns.
"""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..coords import PictureLimits, Space
from ..errors import ProviderError
from ..turns import Answered, Call, Part, Picture, Reply, Result, Said, Turn, Usage
from ._claude import dialect
from ._computer import MEMBERS, TOOLSET, from_single, to_single
from ._history import (
    fitted,
    foreign_id,
    forgotten,
    pack,
    result_text,
    safe_name,
    sendable,
    unpack,
    without_old_pictures,
)
from ._service import Service
from .base import Provider, ToolSpec
from .pricing import Price, cost, known_models

if TYPE_CHECKING:
    import anthropic

CLEARING = "context-management-2025-06-27"
MARKED_TURNS = 3
EFFORTS = "low medium high xhigh max"

Block = dict[str, Any]


@dataclass(frozen=True)
class AnthropicOptions:
    """`effort` is low, medium, high, xhigh or max; empty leaves it to the model.

    `cache_ttl` is 1h where branches wait for people: writing costs more, and the prefix lives longer.
    `screen` is told to models with older tools when the first turn has no picture.
    """

    model: str = "claude-opus-5-5"
    base_url: str = "https://api.anthropic.com"
    max_tokens: int = 16_000
    effort: str = ""
    timeout: float = 600
    cache_ttl: Literal["5m", "1h"] = "5m"
    screen: tuple[int, int] = (1280, 800)
    price: Price | None = None


class AnthropicProvider(Provider):
    kind = "anthropic"
    label = "Anthropic"
    key_env = "ANTHROPIC_API_KEY"
    Options = AnthropicOptions

    @classmethod
    def suggestions(cls, option: str) -> list[str]:
        return known_models("claude") if option == "model" else EFFORTS.split() if option == "effort" else []

    def __init__(self, options: AnthropicOptions, key: str) -> None:
        """Raises ProviderError for options that the model does not take."""
        self.model = options.model
        self.options = options
        self._dialect = dialect(options.model)
        self._service = Service("Anthropic", self.key_env, key, options.base_url)
        if options.effort and not self._dialect.thinks:
            raise ProviderError(f"{options.model} takes no effort: leave the option empty.", permanent=True)
        self._client = _client(options, key)

    def space(self) -> Space:
        return Space.PIXELS

    def limits(self) -> PictureLimits:
        return self._dialect.limits

    def complete(self, system: str, turns: Sequence[Turn], tools: Sequence[ToolSpec], *, desktop: bool = True) -> Reply:
        from anthropic import APIError

        request = sendable(self._request(system, turns, tools, desktop))
        create: Callable[..., Any] = self._client.beta.messages.with_raw_response.create
        return self._service.ask(lambda: create(**request).read(), APIError, self._reply)

    def _request(self, system: str, turns: Sequence[Turn], tools: Sequence[ToolSpec], desktop: bool) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.model,
            "max_tokens": self.options.max_tokens,
            "messages": self._messages(turns),
        }
        if offered := [*([self._computer(turns)] if desktop else []), *map(_custom_tool, tools)]:
            request["tools"] = offered
        if system.strip():
            request["system"] = [{"type": "text", "text": system}]
        if self._dialect.thinks:
            request["thinking"] = {"type": "adaptive", "display": "summarized"}
        if self.options.effort:
            request["output_config"] = {"effort": self.options.effort}
        self._mark(request)
        betas = [self._dialect.beta] if self._dialect.beta and desktop else []
        clearing = None if self._dialect.may_prune else _clearing(turns, tools)
        if clearing:
            request["context_management"] = {"edits": [clearing]}
            betas.append(CLEARING)
        return {**request, "betas": betas} if betas else request

    def _computer(self, turns: Sequence[Turn]) -> Block:
        """Older tools want the size of the screen: that of the first picture, since the first turn never changes."""
        if self._dialect.is_toolset:
            return {"type": self._dialect.tool}
        shown = [part for part in turns[0].parts if isinstance(part, Picture)] if isinstance(turns[0], Said) else []
        width, height = (shown[0].width, shown[0].height) if shown else self.options.screen
        size = {"display_width_px": width, "display_height_px": height}
        zoom = {"enable_zoom": True} if self._dialect.zooms else {}
        return {"type": self._dialect.tool, "name": TOOLSET, **size, **zoom}

    def _messages(self, turns: Sequence[Turn]) -> list[Block]:
        told = without_old_pictures(turns) if self._dialect.may_prune else list(turns)
        messages = []
        for place, turn in enumerate(told):
            match turn:
                case Said():
                    role, content = "user", self._parts(turn.parts)
                case Reply():
                    role, content = "assistant", self._said_by_model(turn, place)
                case Answered():
                    role, content = "user", self._results(turn, told[place - 1], place - 1)
            if content:
                messages.append({"role": role, "content": content})
        return messages

    def _said_by_model(self, reply: Reply, place: int) -> list[Block]:
        if self._is_own(reply):
            content = unpack(reply.raw["content"])
            return [block for block in content if block["type"] != "text" or block["text"].strip()]
        uses = [self._use(call, foreign_id(place, number)) for number, call in enumerate(reply.calls)]
        return [*self._parts((reply.text,)), *uses]

    def _is_own(self, reply: Reply) -> bool:
        """A reply that used another version of the tool is another vendor's as far as the service can tell."""
        return reply.kind == self.kind and bool(reply.raw["computer"] == self._dialect.tool)

    def _use(self, call: Call, id: str) -> Block:  # noqa: A002
        use = {"type": "tool_use", "id": id, "name": safe_name(call.name), "input": dict(call.input)}
        if call.toolset != TOOLSET or call.name not in MEMBERS:
            return use
        if self._dialect.is_toolset:
            return {**use, "toolset_name": TOOLSET}
        return {**use, "name": TOOLSET, "input": to_single(call)}

    def _results(self, turn: Answered, reply: Turn, place: int) -> list[Block]:
        said = self._said_by_model(reply, place) if isinstance(reply, Reply) else []
        uses = [block for block in said if block["type"] == "tool_use"]
        return [self._result(result, use) for result, use in zip(turn.results, uses, strict=True)]

    def _result(self, result: Result, use: Block) -> Block:
        """The service takes no picture with an error: then the words say that it is one."""
        is_error = not result.ok and result.picture is None
        text = result_text(result) if result.ok or is_error else f"Error: {result_text(result)}"
        parts: tuple[Part, ...] = (text, *([result.picture] if result.picture else []))
        block = {"type": "tool_result", "tool_use_id": use["id"], "content": self._parts(parts)}
        if use.get("toolset_name"):
            block["toolset_name"] = use["toolset_name"]
        return {**block, "is_error": True} if is_error else block

    def _parts(self, parts: Sequence[Part]) -> list[Block]:
        blocks: list[Block] = []
        for part in parts:
            if isinstance(part, Picture):
                blocks.append({"type": "image", "source": _source(fitted(part, self.limits()))})
            elif part.strip():
                blocks.append({"type": "text", "text": part})
        return blocks

    def _mark(self, request: dict[str, Any]) -> None:
        """None of the marked blocks is part of a reply."""
        answers = [message["content"][-1] for message in request["messages"] if message["role"] == "user"]
        answers = [block for block in answers if block["type"] == "tool_result"]
        prefix = request.get("system") or request.get("tools") or []
        for block in (*prefix[-1:], *answers[-MARKED_TURNS:]):
            block["cache_control"] = {"type": "ephemeral", "ttl": self.options.cache_ttl}

    def _reply(self, message: Any) -> Reply:
        if message["stop_reason"] == "max_tokens":
            raise self._service.cut_off(self.options.max_tokens)
        if message["stop_reason"] == "model_context_window_exceeded":
            raise self._service.too_long()
        if message["stop_reason"] == "refusal":
            raise self._service.declined(str((message.get("stop_details") or {}).get("explanation") or ""))
        content = message["content"]
        usage = _usage(message["usage"])
        price, hour = self.options.price, self.options.cache_ttl == "1h"
        return Reply(
            text="\n".join(block["text"] for block in content if block["type"] == "text"),
            calls=tuple(_call(block) for block in content if block["type"] == "tool_use"),
            reasoning="\n".join(block["thinking"] for block in content if block["type"] == "thinking"),
            usage=usage,
            cost=cost(self.model, usage, price=price, hour=hour),
            kind=self.kind,
            model=message["model"],
            raw={"computer": self._dialect.tool, "id": message["id"], "content": pack(content)},
        )


def _client(options: AnthropicOptions, key: str) -> "anthropic.Anthropic":
    """The SDK takes a second to import, and a menu of providers does not need it."""
    from anthropic import Anthropic

    return Anthropic(api_key=key, base_url=options.base_url, timeout=options.timeout, max_retries=0)


def _custom_tool(tool: ToolSpec) -> Block:
    return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.schema)}


def _source(picture: Picture) -> Block:
    return {"type": "base64", "media_type": picture.media_type, "data": base64.b64encode(picture.data).decode()}


def _clearing(turns: Sequence[Turn], tools: Sequence[ToolSpec]) -> Block | None:
    """The service leaves out the pictures that we would, no more: `keep` grows with the turns between two batches."""
    gone = forgotten(turns)
    if not gone:
        return None
    kept = [turn for turn in turns if isinstance(turn, Answered)][gone:]
    count = {"type": "tool_uses", "value": sum(len(turn.results) for turn in kept)}
    edit = {"type": "clear_tool_uses_20250919", "trigger": count, "keep": count}
    return {**edit, "exclude_tools": [tool.name for tool in tools]} if tools else edit


def _call(block: Block) -> Call:
    if not block.get("toolset_name") and block["name"] == TOOLSET:
        return from_single(block["id"], block["input"])
    return Call(block["id"], block["name"], block["input"], block.get("toolset_name") or "")


def _usage(usage: Block) -> Usage:
    read, written = usage.get("cache_read_input_tokens") or 0, usage.get("cache_creation_input_tokens") or 0
    return Usage(usage["input_tokens"], usage["output_tokens"], read, written)
