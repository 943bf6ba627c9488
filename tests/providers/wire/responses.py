"""OpenAI's Responses, without storage: every item that the model gave must come back as it was."""

from collections.abc import Mapping
from typing import Any

from .refusal import (
    Refusal,
    check_description,
    check_fields,
    check_name,
    check_object_schema,
    check_text,
    insist,
    picture_size_of_url,
)

Item = Mapping[str, Any]

MODELS = {"gpt-5.6": True, "gpt-5.4": True, "gpt-4.1": False}
"""Whether they take the computer tool."""

BODY = {
    "instructions", "tools", "max_output_tokens", "store", "include", "prompt_cache_key", "reasoning",
    "context_management", "parallel_tool_calls", "tool_choice", "metadata", "truncation", "text", "stream",
}  # fmt: skip
INCLUDABLE = {"reasoning.encrypted_content", "computer_call_output.output.image_url"}
EFFORTS = {"none", "minimal", "low", "medium", "high", "xhigh", "max"}
ANSWERS = {"computer_call": "computer_call_output", "function_call": "function_call_output"}
ONLY_THE_MODELS = {"reasoning", "computer_call", "compaction"}


class ResponsesApi:
    def __init__(self) -> None:
        self._issued: dict[str, tuple[Item, str]] = {}

    def key_of(self, headers: Mapping[str, str]) -> str:
        return headers.get("authorization", "").removeprefix("Bearer ")

    def remember(self, body: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        output = answer["output"]
        for number, item in enumerate(output):
            self._issued[item["id"]] = (item, output[number + 1]["id"] if number + 1 < len(output) else "")

    def check(self, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
        """Raises Refusal."""
        check_fields(body, "body", ("model", "input"), BODY)
        if body["model"] not in MODELS:
            raise Refusal(f"The model `{body['model']}` does not exist", 404)
        check_tools(body.get("tools", []), MODELS[body["model"]])
        insist(set(body.get("include", ())) <= INCLUDABLE, f"include: unknown value in {body.get('include')}")
        reasoning = body.get("reasoning", {})
        check_fields(reasoning, "reasoning", (), ("effort", "summary", "context", "mode"))
        insist(reasoning.get("effort", "low") in EFFORTS, f"reasoning.effort: must be one of {EFFORTS}")
        for place, entry in enumerate(body.get("context_management", ())):
            check_fields(entry, f"context_management[{place}]", ("type",), ("compact_threshold",))
            insist(entry["type"] == "compaction", "context_management: only compaction is supported")
        self._check_input(body["input"], stored=body.get("store", True))

    def _check_input(self, items: list[Item], stored: bool) -> None:
        pending: dict[str, Item] = {}
        for place, item in enumerate(items):
            where = f"input[{place}]"
            self._check_item(item, where)
            self._check_verbatim(item, items[place + 1 :], where, stored)
            if item["type"] in ANSWERS:
                pending[item["call_id"]] = item
            if item["type"] in ANSWERS.values():
                check_answer(item, pending.pop(item["call_id"], None), where)
        insist(not pending, f"No tool output found for {', '.join(pending)}.")

    def _check_item(self, item: Item, where: str) -> None:
        match item.get("type", "message"):
            case "message" if item.get("role") == "assistant":
                check_fields(item, where, ("type", "role", "content"), ("id", "status", "phase"))
                insist(all(part["type"] in {"output_text", "refusal"} for part in item["content"]), f"{where}.content")
            case "message":
                check_fields(item, where, ("type", "role", "content"))
                check_parts(item["content"], where)
            case "function_call":
                check_fields(item, where, ("type", "call_id", "name", "arguments"), ("id", "status"))
                check_name(item["name"], f"{where}.name")
                insist(isinstance(item["arguments"], str), f"{where}.arguments: must be a string")
            case "function_call_output":
                check_fields(item, where, ("type", "call_id", "output"))
            case "computer_call_output":
                check_fields(item, where, ("type", "call_id", "output"), ("acknowledged_safety_checks",))
            case kind:
                insist(kind in ONLY_THE_MODELS, f"{where}.type: Invalid value: {kind}")

    def _check_verbatim(self, item: Item, after: list[Item], where: str, stored: bool) -> None:
        if item["type"] not in ONLY_THE_MODELS and "id" not in item:
            return
        issued, follower = self._issued.get(item["id"], ({}, ""))
        insist(item == issued, f"{where}: item {item['id']} was not given by the model in this form")
        if item["type"] == "reasoning":
            sealed = stored or bool(item.get("encrypted_content"))
            insist(sealed, f"Item with id '{item['id']}' not found. Items are not persisted when `store` is false.")
            followed = bool(after) and after[0].get("id") == follower
            insist(
                followed, f"Item '{item['id']}' of type 'reasoning' was provided without its required following item."
            )


def check_answer(item: Item, call: Item | None, where: str) -> None:
    insist(call is not None, f"No tool call found for call_id {item['call_id']}.")
    assert call is not None
    insist(ANSWERS[call["type"]] == item["type"], f"{where}: {item['type']} answers no {call['type']}")
    if item["type"] == "computer_call_output":
        check_fields(item["output"], f"{where}.output", ("type", "image_url"))
        insist(item["output"]["type"] == "computer_screenshot", f"{where}.output.type: must be computer_screenshot")
        picture_size_of_url(item["output"]["image_url"], f"{where}.output.image_url")
        wanted = {check["id"] for check in call.get("pending_safety_checks", ())}
        given = {check["id"] for check in item.get("acknowledged_safety_checks", ())}
        insist(wanted == given, f"{where}: safety checks were not acknowledged: {sorted(wanted - given)}")
    elif isinstance(item["output"], str):
        check_text(item["output"], f"{where}.output")
    else:
        check_parts(item["output"], f"{where}.output")


def check_parts(parts: Any, where: str) -> None:
    insist(isinstance(parts, list) and bool(parts), f"{where}: must have content")
    for number, part in enumerate(parts):
        place = f"{where}.content[{number}]"
        insist(part.get("type") in {"input_text", "input_image"}, f"{place}.type: Invalid value: {part.get('type')}")
        if part["type"] == "input_text":
            check_fields(part, place, ("type", "text"))
            check_text(part["text"], place)
        else:
            check_fields(part, place, ("type", "image_url", "detail"))
            insist(part["detail"] in {"low", "high", "auto", "original"}, f"{place}.detail: Invalid value")
            picture_size_of_url(part["image_url"], place)


def check_tools(tools: list[Item], takes_computer: bool) -> None:
    names = [tool["name"] for tool in tools if "name" in tool]
    insist(len(names) == len(set(names)), "tools: names must be unique")
    for place, tool in enumerate(tools):
        where = f"tools[{place}]"
        insist(tool.get("type") in {"computer", "function"}, f"{where}.type: Invalid value: {tool.get('type')}")
        if tool["type"] == "computer":
            check_fields(tool, where, ("type",))
            insist(takes_computer, f"{where}: computer is not supported with this model")
        else:
            check_fields(tool, where, ("type", "name", "parameters", "strict"), ("description",))
            check_name(tool["name"], f"{where}.name")
            check_description(tool.get("description", ""), f"{where}.description")
            check_object_schema(tool["parameters"], f"{where}.parameters")
