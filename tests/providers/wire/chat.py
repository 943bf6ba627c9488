"""OpenAI's chat completions, as many services offer them."""

from collections.abc import Mapping
from typing import Any

from .refusal import (
    check_description,
    check_fields,
    check_name,
    check_object_schema,
    check_text,
    insist,
    picture_size_of_url,
)

BODY = {"tools", "max_tokens", "temperature", "reasoning_effort", "tool_choice", "stream"}
FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "system": (("role", "content"), ()),
    "user": (("role", "content"), ()),
    "assistant": (("role",), ("content", "tool_calls", "refusal", "reasoning_content")),
    "tool": (("role", "content", "tool_call_id"), ()),
}


class ChatApi:
    def key_of(self, headers: Mapping[str, str]) -> str:
        return headers.get("authorization", "").removeprefix("Bearer ")

    def remember(self, body: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        pass

    def check(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
        """Raises Refusal."""
        check_fields(body, "body", ("model", "messages"), BODY)
        insist(not headers.get("openai-organization"), "openai-organization: is none of our business")
        for place, tool in enumerate(body.get("tools", [])):
            check_fields(tool, f"tools[{place}]", ("type", "function"))
            check_fields(tool["function"], f"tools[{place}].function", ("name", "parameters"), ("description",))
            check_name(tool["function"]["name"], f"tools[{place}].function.name")
            check_description(tool["function"].get("description", ""), f"tools[{place}].function.description")
            check_object_schema(tool["function"]["parameters"], f"tools[{place}].function.parameters")
        check_conversation(body["messages"])


def check_conversation(messages: list[dict[str, Any]]) -> None:
    pending: list[str] = []
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        insist(message.get("role") in FIELDS, f"{where}.role: Invalid value")
        check_fields(message, where, *FIELDS[message["role"]])
        if message["role"] == "tool":
            asked = message["tool_call_id"] in pending
            insist(asked, f"{where}: messages with role 'tool' must be a response to a message with 'tool_calls'")
            pending.remove(message["tool_call_id"])
            check_text(message["content"], where)
            continue
        unanswered = f"{where}: 'tool_calls' must be followed by tool messages responding to each: {pending}"
        insist(not pending, unanswered)
        check_message(message, where)
        pending = [call["id"] for call in message.get("tool_calls", ())]
    insist(not pending, f"'tool_calls' must be followed by tool messages responding to each: {pending}")


def check_message(message: dict[str, Any], where: str) -> None:
    content = message.get("content")
    if message["role"] == "assistant":
        insist(bool(content) or bool(message.get("tool_calls")), f"{where}: content or tool_calls must be given")
        for call in message.get("tool_calls", ()):
            check_fields(call, f"{where}.tool_calls", ("id", "type", "function"))
            check_fields(call["function"], f"{where}.tool_calls.function", ("name", "arguments"))
            check_name(call["function"]["name"], f"{where}.tool_calls.function.name")
    elif isinstance(content, str):
        check_text(content, where)
    else:
        insist(message["role"] == "user" and bool(content), f"{where}.content: Invalid value")
        for number, part in enumerate(content or ()):
            check_part(part, f"{where}.content[{number}]")


def check_part(part: dict[str, Any], where: str) -> None:
    insist(part.get("type") in {"text", "image_url"}, f"{where}.type: Invalid value")
    if part["type"] == "text":
        check_fields(part, where, ("type", "text"))
        check_text(part["text"], where)
    else:
        check_fields(part, where, ("type", "image_url"))
        picture_size_of_url(part["image_url"]["url"], where)
