"""Anthropic's Messages: what it takes of each model, and what it answers with a 400."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .messages_blocks import check_block, check_pictures
from .refusal import Refusal, check_fields, check_name, check_object_schema, insist

TOOLSET = "computer_toolset_20260801"
OLD_TOOLS = {"computer_20250124": "computer-use-2025-01-24", "computer_20251124": "computer-use-2025-11-24"}
CLEARING = "context-management-2025-06-27"
STREAMING = "fine-grained-tool-streaming-2025-05-14"
BETAS = {*OLD_TOOLS.values(), CLEARING, STREAMING}
BODY = {
    "system", "tools", "tool_choice", "thinking", "output_config", "context_management", "metadata", "stop_sequences",
    "stream", "service_tier", "cache_control",
}  # fmt: skip
VERSIONS = {"2023-06-01", "2026-10-21"}
EFFORTS = {"low", "medium", "high", "xhigh", "max"}
TTLS = {"5m", "1h"}
MAX_MARKS = 4


@dataclass(frozen=True)
class Model:
    """`bound`: thinking is good only after the very conversation that it came from."""

    tools: frozenset[str]
    large: bool
    adaptive: bool
    bound: bool = False


MODELS = {
    "claude-opus-5-5": Model(frozenset({TOOLSET}), True, True, True),
    "claude-sonnet-5": Model(frozenset({TOOLSET, "computer_20251124"}), True, True),
    "claude-opus-4-7": Model(frozenset({"computer_20251124"}), True, True),
    "claude-opus-4-6": Model(frozenset({"computer_20251124"}), False, True),
    "claude-haiku-4-5": Model(frozenset({"computer_20250124"}), False, False),
}


class MessagesApi:
    def __init__(self) -> None:
        self._thoughts: dict[str, tuple[Mapping[str, Any], str]] = {}

    def key_of(self, headers: Mapping[str, str]) -> str:
        return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ")

    def remember(self, body: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        before = merged(body["messages"])
        for number, block in enumerate(answer["content"]):
            if block["type"] == "thinking":
                self._thoughts[block["signature"]] = (block, digest(before, answer["content"][:number]))

    def check(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
        """Raises Refusal."""
        insist(headers.get("anthropic-version") in VERSIONS, "anthropic-version: header is required")
        check_fields(body, "body", ("model", "max_tokens", "messages"), BODY)
        model = MODELS.get(body["model"])
        if model is None:
            raise Refusal(f"model: {body['model']}", 404)
        betas = set(filter(None, headers.get("anthropic-beta", "").split(",")))
        insist(betas <= BETAS, f"Unexpected value(s) {betas - BETAS} for the `anthropic-beta` header")
        insist(isinstance(body["max_tokens"], int) and body["max_tokens"] > 0, "max_tokens: must be at least 1")
        check_tools(body.get("tools", []), model, betas)
        check_thinking(body, model)
        check_clearing(body.get("context_management"), betas)
        check_marks(body)
        messages = merged(body["messages"])
        check_messages(messages, {tool.get("type") for tool in body.get("tools", [])})
        check_pictures(messages, model.large)
        self._check_thoughts(messages, model.bound)

    def _check_thoughts(self, messages: list[dict[str, Any]], bound: bool) -> None:
        for place, message in enumerate(messages):
            for number, block in enumerate(message["content"]):
                if block["type"] == "thinking":
                    where = f"messages.{place}.content.{number}"
                    issued, before = self._thoughts.get(block["signature"], (None, ""))
                    insist(block == issued, f"{where}: `thinking` blocks cannot be modified")
                    same = digest(messages[:place], message["content"][:number]) == before
                    insist(same or not bound, f"{where}: the conversation before the `thinking` block has changed")


def merged(messages: Any) -> list[dict[str, Any]]:
    """Neighbours of one role are one turn, as the service sees it."""
    insist(isinstance(messages, list) and bool(messages), "messages: at least one message is required")
    turns: list[dict[str, Any]] = []
    for place, message in enumerate(messages):
        check_fields(message, f"messages.{place}", ("role", "content"))
        insist(message["role"] in {"user", "assistant"}, f"messages.{place}.role: must be user or assistant")
        insist(bool(message["content"]), f"messages.{place}: all messages must have non-empty content")
        said = message["content"]
        content = [{"type": "text", "text": said}] if isinstance(said, str) else said
        if turns and turns[-1]["role"] == message["role"]:
            turns[-1] = {"role": message["role"], "content": [*turns[-1]["content"], *content]}
        else:
            turns.append({"role": message["role"], "content": list(content)})
    return turns


def digest(before: Any, start: Any) -> str:
    return json.dumps(unmarked([before, start]), sort_keys=True)


def unmarked(value: Any) -> Any:
    """Without the marks for the cache, which are no part of a conversation."""
    if isinstance(value, Mapping):
        return {name: unmarked(inner) for name, inner in value.items() if name != "cache_control"}
    return [unmarked(inner) for inner in value] if isinstance(value, list) else value


def check_messages(messages: list[dict[str, Any]], tool_types: set[str]) -> None:
    insist(messages[0]["role"] == "user", "messages: first message must use the user role")
    insist(messages[-1]["role"] == "user", "messages: this model does not support assistant message prefill")
    seen: set[str] = set()
    asked: dict[str, Mapping[str, Any]] = {}
    for place, message in enumerate(messages):
        for number, block in enumerate(message["content"]):
            check_block(block, message["role"], f"messages.{place}.content.{number}")
        if message["role"] == "user":
            check_results(message["content"], asked, f"messages.{place}")
        asked = {block["id"]: block for block in message["content"] if block["type"] == "tool_use"}
        insist(not seen & set(asked), f"messages.{place}: `tool_use` ids must be unique")
        seen |= set(asked)
        for use in asked.values():
            declared = not use.get("toolset_name") or TOOLSET in tool_types
            insist(declared, f"messages.{place}: toolset `{use.get('toolset_name')}` is not in tools")


def check_results(content: list[dict[str, Any]], asked: Mapping[str, Mapping[str, Any]], where: str) -> None:
    kinds = [block["type"] == "tool_result" for block in content]
    insist(kinds == sorted(kinds, reverse=True), f"{where}: `tool_result` blocks must come first")
    answered = [block for block in content if block["type"] == "tool_result"]
    for block in answered:
        use = asked.get(block["tool_use_id"])
        insist(use is not None, f"{where}: unexpected `tool_use_id` {block['tool_use_id']}: no such `tool_use` before")
        wanted = use.get("toolset_name") if use else None
        insist(block.get("toolset_name") == wanted, f"{where}: `toolset_name` must be that of the `tool_use`: {wanted}")
    missing = set(asked) - {block["tool_use_id"] for block in answered}
    insist(not missing, f"{where}: `tool_use` ids without `tool_result` blocks immediately after: {missing}")


def check_tools(tools: list[dict[str, Any]], model: Model, betas: set[str]) -> None:
    names = [tool["name"] for tool in tools if "name" in tool]
    insist(len(names) == len(set(names)), "tools: Tool names must be unique")
    for place, tool in enumerate(tools):
        where, kind = f"tools.{place}", tool.get("type", "custom")
        if kind == "custom":
            check_fields(tool, where, ("name", "input_schema"), ("type", "description", "cache_control", "strict"))
            check_name(tool["name"], f"{where}.name")
            check_object_schema(tool["input_schema"], f"{where}.input_schema")
            continue
        insist(kind == TOOLSET or kind in OLD_TOOLS, f"{where}: unknown type {kind}")
        insist(kind in model.tools, f"{where}: this model does not support {kind}")
        if kind == TOOLSET:
            check_fields(tool, where, ("type",), ("configs", "cache_control", "allowed_callers"))
            insist(STREAMING not in betas, f"{where}: a toolset cannot be used with {STREAMING}")
        else:
            zoom = ("enable_zoom",) if kind == "computer_20251124" else ()
            sizes = ("display_width_px", "display_height_px")
            check_fields(tool, where, ("type", "name", *sizes), ("display_number", "cache_control", *zoom))
            insist(OLD_TOOLS[kind] in betas, f"{where}: {kind} needs the beta header {OLD_TOOLS[kind]}")


def check_thinking(body: Mapping[str, Any], model: Model) -> None:
    thinking, output = body.get("thinking"), body.get("output_config")
    if thinking is not None:
        check_fields(thinking, "thinking", ("type",), ("display",))
        insist(thinking["type"] == "adaptive", "thinking.type: must be adaptive")
        insist(model.adaptive, "thinking: adaptive thinking is not supported on this model")
        insist(thinking.get("display", "omitted") in {"summarized", "omitted"}, "thinking.display: unknown value")
    if output is not None:
        check_fields(output, "output_config", (), ("effort", "format"))
        insist(model.adaptive, "output_config.effort: This model does not support the effort parameter")
        insist(output.get("effort") in EFFORTS, f"output_config.effort: must be one of {EFFORTS}")


def check_clearing(config: Any, betas: set[str]) -> None:
    if config is None:
        return
    insist(CLEARING in betas, "context_management: Extra inputs are not permitted")
    check_fields(config, "context_management", ("edits",))
    for place, edit in enumerate(config["edits"]):
        where = f"context_management.edits.{place}"
        counts = ("trigger", "keep")
        check_fields(edit, where, ("type",), (*counts, "exclude_tools", "clear_at_least", "clear_tool_inputs"))
        insist(edit["type"] == "clear_tool_uses_20250919", f"{where}.type: unknown")
        for name in counts:
            count = edit.get(name, {"type": "tool_uses", "value": 3})
            check_fields(count, f"{where}.{name}", ("type", "value"))
            insist(count["type"] == "tool_uses" and count["value"] > 0, f"{where}.{name}: must be a number of uses")


def check_marks(body: Mapping[str, Any]) -> None:
    marks = list(marks_in(body))
    insist(len(marks) <= MAX_MARKS, f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")
    for mark in marks:
        check_fields(mark, "cache_control", ("type",), ("ttl",))
        insist(mark["type"] == "ephemeral" and mark.get("ttl", "5m") in TTLS, "cache_control: unknown value")


def marks_in(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        if "cache_control" in value:
            insist(value.get("type") != "thinking", "`thinking` blocks cannot have cache_control")
            yield value["cache_control"]
        for name, inner in value.items():
            yield from marks_in(inner) if name not in {"input", "input_schema"} else ()
    elif isinstance(value, list):
        for inner in value:
            yield from marks_in(inner)
