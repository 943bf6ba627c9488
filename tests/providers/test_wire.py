"""The server of the tests refuses what the services refuse: a request of ours, spoiled in one place."""

import base64
import copy
import http.client
import json
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from agents.providers.base import Provider
from agents.turns import Said

from .conftest import claude, gpt, other
from .scene import SYSTEM, TOOLS, goal, picture, step
from .wire import Request, Status, WireServer, replies

Json = dict[str, Any]
Spoil = Callable[[Json, dict[str, str]], object]


def talk(wire: WireServer, provider: Provider, *answers: Json) -> Request:
    """The request after each of the answers was carried out."""
    turns = goal()
    for answer in answers:
        wire.will(answer)
        turns = step(provider, turns)
    wire.will(LAST[provider.kind])
    step(provider, turns)
    return wire.requests[-1]


def post(wire: WireServer, path: str, body: Json, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection(urlsplit(wire.anthropic_url).netloc)
    connection.request("POST", path, json.dumps(body), headers)
    with connection.getresponse() as response:
        response.read()
    connection.close()
    return response.status


def spoiled(wire: WireServer, request: Request, spoil: Spoil) -> str:
    """Why the request is refused, which was taken before it was spoiled."""
    headers = {name: value for name, value in request.headers.items() if name != "content-length"}
    body = copy.deepcopy(request.body)
    spoil(body, headers)
    assert post(wire, request.path, body, headers) == 400
    return wire.refusals[-1]


@pytest.fixture(scope="module")
def server() -> Iterator[WireServer]:
    with WireServer() as wire:
        yield wire


@pytest.fixture(scope="module")
def to_anthropic(server: WireServer) -> Request:
    answer = replies.message(replies.thinking("Hm."), replies.action("screenshot"), replies.use("bash", command="ls"))
    return talk(server, claude(server), answer)


@pytest.fixture(scope="module")
def to_an_older_model(server: WireServer) -> Request:
    return talk(server, claude(server, "claude-opus-4-6"))


@pytest.fixture(scope="module")
def to_openai(server: WireServer) -> Request:
    batch = replies.computer_call({"type": "screenshot"}, checks=({"id": "sc_1"},))
    answer = replies.response(replies.reasoning("Hm."), batch, replies.function_call("bash", command="ls"))
    return talk(server, gpt(server, acknowledge_safety=True), answer)


@pytest.fixture(scope="module")
def to_another(server: WireServer) -> Request:
    return talk(server, other(server), replies.completion("Hm.", replies.tool_call("computer", action="screenshot")))


LAST = {
    "anthropic": replies.message(replies.text("Hi.")),
    "openai": replies.response(replies.said("Hi.")),
    "compatible": replies.completion("Hi."),
}


def content(body: Json, place: int) -> Any:
    return body["messages"][place]["content"]


def large_picture(width: int, height: int) -> Json:
    data = base64.b64encode(picture(width, height).data).decode()
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}


OLD: Json = {"type": "computer_20251124", "name": "computer", "display_width_px": 9, "display_height_px": 9}

MESSAGES: dict[str, tuple[Spoil, str]] = {
    "no echo of the toolset": (lambda b, h: content(b, 2)[0].pop("toolset_name"), "`toolset_name` must be"),
    "an echo of none": (lambda b, h: content(b, 2)[1].update(toolset_name="computer"), "`toolset_name` must be"),
    "a name on the toolset": (lambda b, h: b["tools"][0].update(name="computer"), "name: Extra inputs"),
    "a width on the toolset": (lambda b, h: b["tools"][0].update(display_width_px=9), "display_width_px: Extra"),
    "a zoom on the toolset": (lambda b, h: b["tools"][0].update(enable_zoom=True), "enable_zoom: Extra inputs"),
    "an older tool": (lambda b, h: b["tools"].__setitem__(0, OLD), "does not support computer_20251124"),
    "an unknown tool": (lambda b, h: b["tools"][0].update(type="computer_x"), "unknown type"),
    "streaming beside a toolset": (
        lambda b, h: h.update({"anthropic-beta": "fine-grained-tool-streaming-2025-05-14"}),
        "a toolset cannot be used",
    ),
    "an unknown beta": (lambda b, h: h.update({"anthropic-beta": "x-2026"}), "Unexpected value"),
    "no version": (lambda b, h: h.pop("anthropic-version"), "anthropic-version"),
    "clearing without its header": (lambda b, h: b.update(context_management={"edits": []}), "context_management"),
    "a name with a space": (lambda b, h: b["tools"][1].update(name="a b"), r"tools.1.name"),
    "two tools of one name": (lambda b, h: b["tools"][1].update(name="done"), "must be unique"),
    "a schema of no object": (lambda b, h: b["tools"][1].update(input_schema={"type": "array"}), "input_schema"),
    "a temperature": (lambda b, h: b.update(temperature=0), "temperature: Extra inputs"),
    "a budget for thinking": (lambda b, h: b.update(thinking={"type": "disabled"}), "must be adaptive"),
    "an odd effort": (lambda b, h: b.update(output_config={"effort": "some"}), "output_config.effort"),
    "edited thinking": (lambda b, h: content(b, 1)[0].update(thinking="Hm!"), "cannot be modified"),
    "a forged signature": (lambda b, h: content(b, 1)[0].update(signature="x"), "cannot be modified"),
    "an edited past": (lambda b, h: content(b, 0)[0].update(text="Close it."), "conversation before"),
    "a lost picture": (lambda b, h: content(b, 0).pop(), "conversation before"),
    "an unanswered call": (lambda b, h: content(b, 2).pop(0), "without `tool_result`"),
    "calls at the end": (lambda b, h: b["messages"].pop(), "assistant message prefill"),
    "a result without a call": (lambda b, h: content(b, 2)[1].update(tool_use_id="x"), "no such `tool_use`"),
    "words before results": (lambda b, h: content(b, 2).insert(0, replies.text("Oh")), "must come first"),
    "a call twice": (lambda b, h: b["messages"].extend(b["messages"][1:3]), "ids must be unique"),
    "five marks": (
        lambda b, h: [block.update(cache_control={"type": "ephemeral"}) for block in (*b["tools"], *content(b, 2))],
        "A maximum of 4 blocks",
    ),
    "a mark on thinking": (lambda b, h: content(b, 1)[0].update(cache_control={}), "cannot have cache_control"),
    "an odd mark": (lambda b, h: b["system"][0]["cache_control"].update(ttl="2h"), "cache_control: unknown"),
    "an empty text": (lambda b, h: content(b, 0)[0].update(text=" "), "must be non-empty"),
    "an empty message": (lambda b, h: content(b, 0).clear(), "non-empty content"),
    "an oversize picture": (lambda b, h: content(b, 2).append(large_picture(2600, 10)), "maximum image size"),
    "a picture of many patches": (lambda b, h: content(b, 2).append(large_picture(2240, 1680)), "maximum image"),
    "many large pictures": (
        lambda b, h: content(b, 2).extend([large_picture(2100, 10)] * 20),
        "with more than 20 images",
    ),
    "no picture": (lambda b, h: content(b, 0)[1]["source"].update(data="AAAA"), "Could not process image"),
    "a lie about a picture": (lambda b, h: content(b, 0)[1]["source"].update(media_type="image/webp"), "is no image"),
    "a document in a result": (
        lambda b, h: content(b, 2)[0]["content"].append({"type": "document"}),
        "only text and image",
    ),
    "an assistant first": (lambda b, h: b["messages"].pop(0), "first message"),
}


@pytest.mark.parametrize("what", MESSAGES)
def test_it_refuses_what_anthropic_refuses(server: WireServer, to_anthropic: Request, what: str) -> None:
    spoil, words = MESSAGES[what]
    assert words in spoiled(server, to_anthropic, spoil)


OLDER: dict[str, tuple[Spoil, str]] = {
    "no header": (lambda b, h: h.pop("anthropic-beta"), "needs the beta header computer-use-2025-11-24"),
    "a large picture": (lambda b, h: content(b, 0).append(large_picture(1400, 1000)), "maximum image size"),
    "a wide picture": (lambda b, h: content(b, 0).append(large_picture(1600, 10)), "maximum image size"),
    "a toolset": (lambda b, h: b["tools"][0].update(type="computer_toolset_20260801"), "does not support"),
    "no size": (lambda b, h: b["tools"][0].pop("display_width_px"), "display_width_px: Field required"),
}


@pytest.mark.parametrize("what", OLDER)
def test_it_refuses_what_older_models_refuse(server: WireServer, to_an_older_model: Request, what: str) -> None:
    spoil, words = OLDER[what]
    assert words in spoiled(server, to_an_older_model, spoil)


RESPONSES: dict[str, tuple[Spoil, str]] = {
    "a size on the computer": (lambda b, h: b["tools"][0].update(display_width=9), "display_width: Extra inputs"),
    "an unknown tool": (lambda b, h: b["tools"][0].update(type="computer_use"), "Invalid value"),
    "a computer for another model": (lambda b, h: b.update(model="gpt-4.1"), "not supported with this model"),
    "a function without strict": (lambda b, h: b["tools"][1].pop("strict"), "strict: Field required"),
    "two tools of one name": (lambda b, h: b["tools"][1].update(name="bash"), "must be unique"),
    "an unknown field": (lambda b, h: b.update(max_tokens=1), "max_tokens: Extra inputs"),
    "an odd effort": (lambda b, h: b.update(reasoning={"effort": "some"}), "reasoning.effort"),
    "edited reasoning": (lambda b, h: b["input"][1].update(encrypted_content="x"), "not given by the model"),
    "an edited call": (lambda b, h: b["input"][2]["actions"].clear(), "not given by the model"),
    "lonely reasoning": (lambda b, h: b["input"].insert(2, b["input"][0]), "required following item"),
    "an unanswered batch": (lambda b, h: b["input"].pop(4), "No tool output found"),
    "an unanswered function": (lambda b, h: b["input"].pop(5), "No tool output found"),
    "an answer without a call": (lambda b, h: b["input"].append(b["input"][4]), "No tool call found"),
    "words for a screenshot": (lambda b, h: b["input"][4].update(output="OK"), "must be an object"),
    "no screenshot": (lambda b, h: b["input"][4]["output"].update(image_url="data:image/png;base64,AAAA"), "process"),
    "an answer of another kind": (lambda b, h: b["input"][5].update(type="computer_call_output"), "answers no"),
    "a check nobody saw": (lambda b, h: b["input"][4].pop("acknowledged_safety_checks"), "not acknowledged"),
    "an empty text": (lambda b, h: b["input"][0]["content"][0].update(text=""), "must be non-empty"),
    "an odd detail": (lambda b, h: b["input"][0]["content"][1].update(detail="some"), "detail: Invalid value"),
    "another edit": (lambda b, h: b["context_management"][0].update(type="x"), "only compaction"),
}


@pytest.mark.parametrize("what", RESPONSES)
def test_it_refuses_what_openai_refuses(server: WireServer, to_openai: Request, what: str) -> None:
    spoil, words = RESPONSES[what]
    assert words in spoiled(server, to_openai, spoil)


CHAT: dict[str, tuple[Spoil, str]] = {
    "an unanswered call": (lambda b, h: b["messages"].pop(3), "must be followed by tool messages"),
    "an answer without a call": (lambda b, h: b["messages"].append(b["messages"][3]), "must be a response to"),
    "a picture in an answer": (lambda b, h: b["messages"][3].update(content=[]), "non-empty"),
    "an unknown field": (lambda b, h: b.update(max_output_tokens=1), "Extra inputs"),
    "no picture": (lambda b, h: content(b, 1)[1]["image_url"].update(url="data:image/png;base64,AAAA"), "process"),
    "a call without a name": (lambda b, h: b["messages"][2]["tool_calls"][0]["function"].update(name=""), "match"),
    "a schema of no object": (lambda b, h: b["tools"][0]["function"].update(parameters={}), "schema of an object"),
    "an unknown role": (lambda b, h: b["messages"][0].update(role="god"), "role: Invalid value"),
}


@pytest.mark.parametrize("what", CHAT)
def test_it_refuses_what_chat_completions_refuse(server: WireServer, to_another: Request, what: str) -> None:
    spoil, words = CHAT[what]
    assert words in spoiled(server, to_another, spoil)


def test_it_refuses_nothing_of_what_providers_send(
    server: WireServer, to_anthropic: Request, to_an_older_model: Request, to_openai: Request, to_another: Request
) -> None:
    for request in (to_anthropic, to_an_older_model, to_openai, to_another):
        headers = {name: value for name, value in request.headers.items() if name != "content-length"}
        server.will(Status(418))
        assert post(server, request.path, request.body, headers) == 418


def test_it_refuses_a_wrong_key_and_an_unknown_place(server: WireServer, to_anthropic: Request) -> None:
    assert post(server, to_anthropic.path, to_anthropic.body, {"authorization": "Bearer wrong"}) == 401
    assert post(server, "/v1/none", {}, {}) == 404


def test_it_says_when_the_script_is_at_its_end(server: WireServer, to_anthropic: Request) -> None:
    headers = {name: value for name, value in to_anthropic.headers.items() if name != "content-length"}
    assert post(server, to_anthropic.path, to_anthropic.body, headers) == 500
    assert server.refusals[-1] == "The script has no more answers"


def test_it_answers_by_what_was_asked(wire: WireServer) -> None:
    wire.will(lambda request: replies.message(replies.text(f"{len(request.body['messages'])} messages")))
    assert claude(wire).complete(SYSTEM, [Said(("Hi",)), Said(("there",))], TOOLS).text == "2 messages"
