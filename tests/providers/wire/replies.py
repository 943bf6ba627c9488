"""Replies of models, in each service's words, for a script."""

import json
from typing import Any
from uuid import uuid4

Json = dict[str, Any]


def new_id(prefix: str) -> str:
    return f"{prefix}_{uuid4().hex[:16]}"


def message(*blocks: Json, stop_reason: str = "", usage: Json | None = None) -> Json:
    """Of Anthropic."""
    uses = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": new_id("msg"),
        "type": "message",
        "role": "assistant",
        "content": list(blocks),
        "stop_reason": stop_reason or ("tool_use" if uses else "end_turn"),
        "stop_sequence": None,
        "usage": usage or {"input_tokens": 100, "output_tokens": 10},
    }


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def thinking(words: str) -> Json:
    return {"type": "thinking", "thinking": words, "signature": new_id("sig")}


def action(name: str, **given: Any) -> Json:
    """On the desktop, by the computer toolset."""
    return {**use(name, **given), "toolset_name": "computer"}


def use(name: str, **given: Any) -> Json:
    return {"type": "tool_use", "id": new_id("toolu"), "name": name, "input": given, "caller": {"type": "direct"}}


def response(*items: Json, status: str = "completed", **more: Any) -> Json:
    """Of OpenAI's Responses."""
    details = {"cached_tokens": 40, "cache_write_tokens": 10}
    return {
        "id": new_id("resp"),
        "object": "response",
        "created_at": 1,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "output": list(items),
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": details,
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 4},
            "total_tokens": 110,
        },
        **more,
    }


def said(words: str) -> Json:
    content = [{"type": "output_text", "text": words, "annotations": []}]
    return {"id": new_id("msg"), "type": "message", "role": "assistant", "status": "completed", "content": content}


def reasoning(words: str) -> Json:
    summary = [{"type": "summary_text", "text": words}]
    return {"id": new_id("rs"), "type": "reasoning", "summary": summary, "encrypted_content": new_id("sealed")}


def computer_call(*actions: Json, checks: tuple[Json, ...] = ()) -> Json:
    return {
        "id": new_id("cu"),
        "type": "computer_call",
        "call_id": new_id("call"),
        "status": "completed",
        "actions": list(actions),
        "pending_safety_checks": list(checks),
    }


def function_call(name: str, **given: Any) -> Json:
    arguments = json.dumps(given)
    ids = {"id": new_id("fc"), "call_id": new_id("call")}
    return {**ids, "type": "function_call", "status": "completed", "name": name, "arguments": arguments}


def completion(words: str | None, *calls: Json, finish_reason: str = "", **more: Any) -> Json:
    """Of chat completions."""
    said_by_model = {"role": "assistant", "content": words, "refusal": None, **more}
    if calls:
        said_by_model["tool_calls"] = list(calls)
    choice = {
        "index": 0,
        "message": said_by_model,
        "finish_reason": finish_reason or ("tool_calls" if calls else "stop"),
    }
    counts = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    usage = {**counts, "prompt_tokens_details": {"cached_tokens": 40}}
    return {"id": new_id("chat"), "object": "chat.completion", "created": 1, "choices": [choice], "usage": usage}


def tool_call(name: str, **given: Any) -> Json:
    return {"id": new_id("call"), "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
