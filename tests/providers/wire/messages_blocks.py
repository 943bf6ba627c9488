"""Blocks of Anthropic's messages, and the pictures in them."""

import math
from collections.abc import Mapping
from typing import Any

from .refusal import check_fields, check_name, check_text, insist, picture_size

FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "text": (("type", "text"), ("cache_control", "citations")),
    "image": (("type", "source"), ("cache_control",)),
    "tool_result": (("type", "tool_use_id"), ("content", "is_error", "toolset_name", "cache_control")),
    "tool_use": (("type", "id", "name", "input"), ("caller", "toolset_name", "cache_control")),
    "thinking": (("type", "thinking", "signature"), ()),
}
BY_ROLE = {"user": {"text", "image", "tool_result"}, "assistant": {"text", "tool_use", "thinking"}}
MEDIA_TYPES = {"image/jpeg", "image/png", "image/gif", "image/webp"}
MANY, SIDE_OF_MANY = 20, 2000


def check_block(block: Any, role: str, where: str) -> None:
    insist(isinstance(block, Mapping) and block.get("type") in BY_ROLE[role], f"{where}: unexpected block for {role}")
    check_fields(block, where, *FIELDS[block["type"]])
    match block["type"]:
        case "text":
            check_text(block["text"], where)
        case "image":
            check_source(block["source"], f"{where}.source")
        case "tool_use":
            check_name(block["id"], f"{where}.id")
            check_name(block["name"], f"{where}.name")
            insist(isinstance(block["input"], Mapping), f"{where}.input: must be an object")
        case "tool_result":
            check_content(block.get("content", []), where)
            if block.get("is_error"):
                check_error(block.get("content", []), where)


def check_error(content: Any, where: str) -> None:
    only_text = isinstance(content, str) or all(inner["type"] == "text" for inner in content)
    insist(only_text, f'{where}: all content must be type "text" if "is_error" is true')


def check_content(content: Any, where: str) -> None:
    if isinstance(content, str):
        return
    for number, inner in enumerate(content):
        insist(inner.get("type") in {"text", "image"}, f"{where}.content.{number}: only text and image are allowed")
        check_block(inner, "user", f"{where}.content.{number}")


def check_source(source: Any, where: str) -> None:
    check_fields(source, where, ("type", "media_type", "data"))
    insist(source["type"] == "base64", f"{where}.type: must be base64")
    insist(source["media_type"] in MEDIA_TYPES, f"{where}.media_type: unknown")


def check_pictures(messages: list[dict[str, Any]], large: bool) -> None:
    sources = [
        inner["source"]
        for message in messages
        for block in message["content"]
        for inner in (block, *(block["content"] if isinstance(block.get("content"), list) else ()))
        if inner["type"] == "image"
    ]
    for place, source in enumerate(sources):
        width, height = picture_size(source["data"], source["media_type"], f"image {place}")
        size = f"image {place}: {width}x{height}"
        patches = math.ceil(width / 28) * math.ceil(height / 28)
        fits = (max(width, height) <= 2576 and patches <= 4784) if large else max(width, height) <= 1568
        insist(fits and (large or width * height <= 1_150_000), f"{size} exceeds the model's maximum image size")
        few = len(sources) <= MANY or max(width, height) <= SIDE_OF_MANY
        insist(few, f"{size}: with more than 20 images each side may have 2000 pixels")
