"""GPT, through OpenAI's Responses API. Nothing is stored there: every request tells the whole conversation.

What the model gave, its sealed reasoning included, is sent back as it came. A batch of actions is one item that wants
one screenshot for an answer, so words about single actions follow in a message.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..coords import PictureLimits, Space
from ..errors import ProviderError
from ..turns import Answered, Part, Picture, Reply, Result, Said, Turn, Usage
from ._gpt import ZOOM, calls_of
from ._history import blank, data_url, fitted, foreign_id, last_picture, pack, result_text, safe_name, sendable, unpack
from ._service import Service
from .base import Provider, ToolSpec
from .pricing import Price, cost, known_models

if TYPE_CHECKING:
    import openai

LIMITS = PictureLimits(long_edge=2048, patch=32, max_patches=2500, media_type="image/png")
"""Larger ones are made smaller by the service, and coordinates would not be those of the screenshot any more."""

EFFORTS = "none minimal low medium high xhigh max"
PASSING = {"server_error", "rate_limit_exceeded"}

Item = dict[str, Any]


@dataclass(frozen=True)
class OpenAIOptions:
    """`effort` is none, minimal, low, medium, high, xhigh or max; empty leaves it to the model.

    `summary` is how reasoning is told: auto, concise, detailed, or empty for not at all.
    `compact_above`: the service sums up older turns when the prompt has more tokens; 0 is never.
    `acknowledge_safety`: go on when the service asks whether an action is meant. Without it the run ends there.
    """

    model: str = "gpt-5.6"
    base_url: str = "https://api.openai.com/v1"
    max_tokens: int = 16_000
    effort: str = ""
    summary: str = "auto"
    compact_above: int = 200_000
    acknowledge_safety: bool = False
    timeout: float = 600
    price: Price | None = None


class OpenAIProvider(Provider):
    kind = "openai"
    label = "OpenAI"
    key_env = "OPENAI_API_KEY"
    Options = OpenAIOptions

    @classmethod
    def suggestions(cls, option: str) -> list[str]:
        return known_models("gpt") if option == "model" else EFFORTS.split() if option == "effort" else []

    def __init__(self, options: OpenAIOptions, key: str) -> None:
        self.model = options.model
        self.options = options
        self._service = Service("OpenAI", self.key_env, key, options.base_url)
        self._client = _client(options, key)

    def space(self) -> Space:
        return Space.PIXELS

    def limits(self) -> PictureLimits:
        return LIMITS

    def complete(self, system: str, turns: Sequence[Turn], tools: Sequence[ToolSpec], *, desktop: bool = True) -> Reply:
        from openai import APIError

        request = sendable(self._request(system, turns, tools, desktop))
        create: Callable[..., Any] = self._client.responses.with_raw_response.create
        return self._service.ask(lambda: create(**request).content, APIError, self._reply)

    def _request(self, system: str, turns: Sequence[Turn], tools: Sequence[ToolSpec], desktop: bool) -> dict[str, Any]:
        options = self.options
        reasoning = {"effort": options.effort, "summary": options.summary}
        request: dict[str, Any] = {
            "model": self.model,
            "input": [item for place in range(len(turns)) for item in self._items(turns, place)],
            "tools": [*([{"type": "computer"}, ZOOM] if desktop else []), *map(_function, tools)],
            "max_output_tokens": options.max_tokens,
            "store": False,
            "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": _cache_key(system, turns),
        }
        if system.strip():
            request["instructions"] = system
        if any(reasoning.values()):
            request["reasoning"] = {name: value for name, value in reasoning.items() if value}
        if options.compact_above:
            threshold = {"type": "compaction", "compact_threshold": options.compact_above}
            request["context_management"] = [threshold]
        return request

    def _items(self, turns: Sequence[Turn], place: int) -> list[Item]:
        match turns[place]:
            case Said(parts):
                content = self._parts(parts)
                return [{"type": "message", "role": "user", "content": content}] if content else []
            case Reply() as reply:
                return unpack(reply.raw["output"]) if reply.kind == self.kind else _told(reply, place)
            case Answered(results):
                before = turns[place - 1]
                if isinstance(before, Reply) and before.kind == self.kind:
                    screen = last_picture(turns[: place + 1]) or blank()
                    return self._answers(unpack(before.raw["output"]), results, screen)
                return [self._answer(foreign_id(place - 1, n), result) for n, result in enumerate(results)]

    def _answers(self, output: list[Item], results: Sequence[Result], screen: Picture) -> list[Item]:
        left = iter(results)
        items: list[Item] = []
        remarks: list[str] = []
        for item in output:
            answered = list(islice(left, len(calls_of(item))))
            if item["type"] == "computer_call":
                shown = [result.picture for result in answered if result.picture]
                items.append(self._screenshot(item, shown[-1] if shown else screen))
                remarks += _remarks(answered)
            elif answered:
                items.append(self._answer(item["call_id"], answered[0]))
        if remarks:
            items.append({"type": "message", "role": "user", "content": self._parts(("\n".join(remarks),))})
        return items

    def _screenshot(self, item: Item, picture: Picture) -> Item:
        """Checks are acknowledged by their presence: `_reply` lets through none that may not be."""
        output = {"type": "computer_screenshot", "image_url": data_url(fitted(picture, LIMITS))}
        answer = {"type": "computer_call_output", "call_id": item["call_id"], "output": output}
        checks = item.get("pending_safety_checks")
        return {**answer, "acknowledged_safety_checks": checks} if checks else answer

    def _answer(self, call_id: str, result: Result) -> Item:
        text = result_text(result) if result.ok else f"Error: {result_text(result)}"
        output = self._parts((text, result.picture)) if result.picture else text
        return {"type": "function_call_output", "call_id": call_id, "output": output}

    def _parts(self, parts: Sequence[Part]) -> list[Item]:
        items: list[Item] = []
        for part in parts:
            if isinstance(part, Picture):
                items.append({"type": "input_image", "image_url": data_url(fitted(part, LIMITS)), "detail": "high"})
            elif part.strip():
                items.append({"type": "input_text", "text": part})
        return items

    def _reply(self, response: Any) -> Reply:
        self._check(response)
        output = response["output"]
        usage = _usage(response["usage"])
        return Reply(
            text="\n".join(_texts(output, "message", "content")),
            calls=tuple(call for item in output for call in calls_of(item)),
            reasoning="\n".join(_texts(output, "reasoning", "summary")),
            usage=usage,
            cost=cost(self.model, usage, price=self.options.price),
            kind=self.kind,
            model=response["model"],
            raw={"id": response["id"], "output": pack(output)},
        )

    def _check(self, response: Any) -> None:
        """Raises ProviderError for a reply that is none, and for one that a person would have to allow."""
        if response["status"] == "incomplete":
            filtered = (response.get("incomplete_details") or {}).get("reason") == "content_filter"
            service = self._service
            raise service.declined("its filter stopped it") if filtered else service.cut_off(self.options.max_tokens)
        if response["status"] != "completed":
            error = response.get("error") or {}
            final = bool(error) and error.get("code") not in PASSING
            raise ProviderError(
                f"OpenAI's model failed: {error.get('message') or 'no reason was given'}", permanent=final
            )
        checks = [check for item in response["output"] for check in item.get("pending_safety_checks") or ()]
        if checks and not self.options.acknowledge_safety:
            named = "; ".join(f"{check.get('code') or check['id']}: {check.get('message') or ''}" for check in checks)
            raise ProviderError(
                f"OpenAI wants a person to look before the model goes on ({named}). Set acknowledge_safety to go on "
                "without.",
                permanent=True,
            )


def _client(options: OpenAIOptions, key: str) -> "openai.OpenAI":
    """The SDK takes a second to import, and a menu of providers does not need it."""
    from openai import OpenAI

    return OpenAI(api_key=key, base_url=options.base_url, timeout=options.timeout, max_retries=0)


def _function(tool: ToolSpec) -> Item:
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.schema),
        "strict": False,
    }


def _told(reply: Reply, place: int) -> list[Item]:
    """Another vendor's reply: every call, actions on the desktop included, becomes the call of a function."""
    items: list[Item] = []
    if reply.text.strip():
        items.append({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": reply.text}]})
    for number, call in enumerate(reply.calls):
        name, arguments = safe_name(call.name), pack(dict(call.input))
        given = {"call_id": foreign_id(place, number), "name": name, "arguments": arguments}
        items.append({"type": "function_call", **given})
    return items


def _remarks(results: Sequence[Result]) -> list[str]:
    return [f"{result.call.name}: {result_text(result)}" for result in results if result_text(result) != "OK"]


def _texts(output: Sequence[Item], kind: str, field: str) -> Iterator[str]:
    for item in output:
        if item["type"] == kind:
            yield from (part.get("text") or part.get("refusal") or "" for part in item[field])


def _cache_key(system: str, turns: Sequence[Turn]) -> str:
    """The same for all branches of a run, so that they are sent to where their prefix is."""
    words = [part for part in turns[0].parts if isinstance(part, str)] if isinstance(turns[0], Said) else []
    return hashlib.sha256("\0".join([system, *words]).encode(errors="replace")).hexdigest()[:32]


def _usage(usage: Item) -> Usage:
    """OpenAI's input counts what was read from and written to the cache."""
    details = usage.get("input_tokens_details") or {}
    read, written = details.get("cached_tokens") or 0, details.get("cache_write_tokens") or 0
    return Usage(usage["input_tokens"] - read - written, usage["output_tokens"], read, written)
