"""Any service that speaks OpenAI's chat completions: vLLM, llama.cpp, Ollama, OpenRouter and many more.

The desktop is one tool with an `action`. Open models that use computers were trained on that form, it costs a small
model a fraction of the prompt of seventeen tools, and what is left out of a call is told to the model when it is
carried out. A tool's answer may only hold text there, so the screen follows in a message of its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..coords import PictureLimits, Space
from ..turns import Answered, Call, Part, Picture, Reply, Result, Said, Turn, Usage
from ._computer import TOOLSET, from_single, read_arguments, single_tool_schema, to_single
from ._history import (
    EVERY,
    KEEP,
    data_url,
    fitted,
    foreign_id,
    pack,
    result_text,
    safe_name,
    sendable,
    unpack,
    without_old_pictures,
)  # fmt: skip
from ._service import Service
from .base import Provider, ToolSpec
from .pricing import Price, cost

if TYPE_CHECKING:
    import openai

POINTS = {
    Space.PIXELS: "in pixels of the screenshot, from its top left corner",
    Space.THOUSAND: "each from 0 to 999, in thousandths of the screenshot's width and height",
    Space.PER_MILLE: "each from 0 to 1000, in thousandths of the screenshot's width and height",
}

Message = dict[str, Any]


@dataclass(frozen=True)
class CompatibleOptions:
    """`space` is how the model counts coordinates: pixels, thousand (0 to 999) or per_mille (0 to 1000).

    `multiple`: sides of pictures are multiples of it, 28 for Qwen2.5-VL and UI-TARS.
    `keep` and `every`: pictures that stay, and the turns between two batches of older ones that are left out.
    `temperature` is sent only when given.
    """

    model: str
    base_url: str
    space: Literal["pixels", "thousand", "per_mille"] = "pixels"
    max_tokens: int = 4096
    temperature: float | None = None
    effort: str = ""
    timeout: float = 600
    long_edge: int = 1568
    max_pixels: int = 1_150_000
    multiple: int = 1
    keep: int = KEEP
    every: int = EVERY
    price: Price | None = None


class CompatibleProvider(Provider):
    kind = "compatible"
    label = "OpenAI-compatible"
    key_env = "GODHAND_COMPATIBLE_KEY"
    Options = CompatibleOptions

    def __init__(self, options: CompatibleOptions, key: str) -> None:
        self.model = options.model
        self.options = options
        self._service = Service("The model's service", self.key_env, key, options.base_url)
        self._client = _client(options, key)

    def space(self) -> Space:
        return Space[self.options.space.upper()]

    def limits(self) -> PictureLimits:
        options = self.options
        return PictureLimits(options.long_edge, options.max_pixels, multiple=options.multiple, media_type="image/png")

    def complete(self, system: str, turns: Sequence[Turn], tools: Sequence[ToolSpec], *, desktop: bool = True) -> Reply:
        from openai import APIError

        request = sendable(self._request(system, turns, tools, desktop))
        create: Callable[..., Any] = self._client.chat.completions.with_raw_response.create
        return self._service.ask(lambda: create(**request).content, APIError, self._reply)

    def _request(self, system: str, turns: Sequence[Turn], tools: Sequence[ToolSpec], desktop: bool) -> dict[str, Any]:
        told = without_old_pictures(turns, self.options.keep, self.options.every)
        messages = [message for place in range(len(told)) for message in self._messages(told, place)]
        wished = {"temperature": self.options.temperature, "reasoning_effort": self.options.effort or None}
        offered = [*([self._computer()] if desktop else []), *tools]
        return {
            "model": self.model,
            "messages": [*([{"role": "system", "content": system}] if system.strip() else []), *messages],
            **({"tools": list(map(_function, offered))} if offered else {}),
            "max_tokens": self.options.max_tokens,
            **{name: value for name, value in wished.items() if value is not None},
        }

    def _computer(self) -> ToolSpec:
        points = POINTS[self.space()]
        about = f"See and use the desktop. Coordinates are [x, y], {points}. After an action you are shown the screen."
        return ToolSpec(TOOLSET, about, single_tool_schema(points))

    def _messages(self, turns: Sequence[Turn], place: int) -> list[Message]:
        match turns[place]:
            case Said(parts):
                content = self._parts(parts)
                return [{"role": "user", "content": content}] if content else []
            case Reply() as reply:
                return [self._said_by_model(reply, place)]
            case Answered(results):
                before = turns[place - 1]
                told = self._said_by_model(before, place - 1) if isinstance(before, Reply) else {}
                return self._answers(results, [call["id"] for call in told.get("tool_calls", ())])

    def _said_by_model(self, reply: Reply, place: int) -> Message:
        if reply.kind == self.kind:
            message: Message = unpack(reply.raw["message"])
            return message
        calls = [_tool_call(call, foreign_id(place, number)) for number, call in enumerate(reply.calls)]
        text = {"content": reply.text} if reply.text.strip() or not calls else {}
        return {"role": "assistant", **text, **({"tool_calls": calls} if calls else {})}

    def _answers(self, results: Sequence[Result], ids: Sequence[str]) -> list[Message]:
        messages: list[Message] = []
        pictures: list[Part] = []
        for result, id_ in zip(results, ids, strict=True):
            text = result_text(result) if result.ok else f"Error: {result_text(result)}"
            messages.append({"role": "tool", "tool_call_id": id_, "content": text})
            if result.picture:
                pictures += [f"The screen after {result.call.name}:", result.picture]
        return [*messages, *([{"role": "user", "content": self._parts(pictures)}] if pictures else [])]

    def _parts(self, parts: Sequence[Part]) -> list[Message]:
        content: list[Message] = []
        for part in parts:
            if isinstance(part, Picture):
                content.append({"type": "image_url", "image_url": {"url": data_url(fitted(part, self.limits()))}})
            elif part.strip():
                content.append({"type": "text", "text": part})
        return content

    def _reply(self, completion: Any) -> Reply:
        choice = completion["choices"][0]
        if choice.get("finish_reason") == "length":
            raise self._service.cut_off(self.options.max_tokens)
        if choice.get("finish_reason") == "content_filter":
            raise self._service.declined("its filter stopped the reply")
        message = {name: value for name, value in choice["message"].items() if value is not None}
        usage = _usage(completion.get("usage") or {})
        return Reply(
            text=message.get("content") or message.get("refusal") or "",
            calls=tuple(_call(call) for call in message.get("tool_calls", ())),
            reasoning=message.get("reasoning_content") or message.get("reasoning") or "",
            usage=usage,
            cost=cost(self.model, usage, price=self.options.price) if usage.total else None,
            kind=self.kind,
            model=completion.get("model") or self.model,
            raw={"message": pack({"role": "assistant", **message})},
        )


def _client(options: CompatibleOptions, key: str) -> "openai.OpenAI":
    """The SDK takes a second to import, and would tell another company's service about one's account at OpenAI."""
    from openai import OpenAI

    client = OpenAI(api_key=key, base_url=options.base_url, timeout=options.timeout, max_retries=0)
    client.organization = client.project = None
    return client


def _function(tool: ToolSpec) -> Message:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.schema)}
    return {"type": "function", "function": function}


def _tool_call(call: Call, id: str) -> Message:  # noqa: A002
    desktop = call.toolset == TOOLSET
    name, arguments = (TOOLSET, to_single(call)) if desktop else (safe_name(call.name), dict(call.input))
    return {"id": id, "type": "function", "function": {"name": name, "arguments": pack(arguments)}}


def _call(call: Message) -> Call:
    name, arguments = call["function"]["name"], read_arguments(call["function"]["arguments"])
    return from_single(call["id"], arguments) if name == TOOLSET else Call(call["id"], name, arguments)


def _usage(usage: Message) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    read = details.get("cached_tokens") or 0
    return Usage((usage.get("prompt_tokens") or 0) - read, usage.get("completion_tokens") or 0, read)
