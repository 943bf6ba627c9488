from itertools import pairwise
from typing import Any

import pytest

from agents.coords import Frame, Space
from agents.errors import ProviderError
from agents.turns import Answered, Result, Said, Usage

from .conftest import other
from .scene import SYSTEM, TOOLS, carried_out, foreign_reply, goal, is_prefix, picture, reply_of, step, stored
from .wire import WireServer
from .wire.refusal import picture_size_of_url
from .wire.replies import completion, tool_call


def pictures_in(body: dict[str, Any]) -> int:
    contents = [said["content"] for said in body["messages"] if isinstance(said.get("content"), list)]
    return sum(part["type"] == "image_url" for content in contents for part in content)


def test_it_tells_a_goal_with_one_tool_for_the_desktop(wire: WireServer) -> None:
    wire.will(completion("Hello."))
    reply = other(wire, temperature=0.0, effort="low").complete(SYSTEM, goal(), TOOLS)
    body = wire.last
    assert [tool["function"]["name"] for tool in body["tools"]] == ["computer", "bash", "done"]
    assert len(body["tools"][0]["function"]["parameters"]["properties"]["action"]["enum"]) == 17
    assert [said["role"] for said in body["messages"]] == ["system", "user"]
    assert [part["type"] for part in body["messages"][1]["content"]] == ["text", "image_url"]
    assert (body["temperature"], body["reasoning_effort"], body["max_tokens"]) == (0.0, "low", 4096)
    assert (reply.text, reply.kind, reply.model) == ("Hello.", "compatible", "qwen3-vl")


def test_it_sends_no_wish_that_was_not_made(wire: WireServer) -> None:
    wire.will(completion("Hello."))
    other(wire).complete("", goal(), TOOLS)
    assert set(wire.last) == {"model", "messages", "tools", "max_tokens"}


def test_it_reads_a_batch_and_shows_the_screen_after_the_answers(wire: WireServer) -> None:
    click = tool_call("computer", action="left_click", coordinate=[1, 2], text=None)
    zoom = tool_call("computer", action="zoom", region=[0, 0, 9, 9])
    wire.will(completion(None, click, zoom, tool_call("bash", command="ls")), completion("Done."))
    turns = step(other(wire), goal())
    calls = reply_of(turns).calls
    assert [(call.toolset, call.name, dict(call.input)) for call in calls] == [
        ("computer", "left_click", {"coordinate": [1, 2]}),
        ("computer", "zoom", {"region": [0, 0, 9, 9]}),
        ("", "bash", {"command": "ls"}),
    ]
    step(other(wire), turns)
    assert [said["role"] for said in wire.last["messages"][3:]] == ["tool", "tool", "tool", "user"]
    assert wire.last["messages"][-1]["content"][0] == {"type": "text", "text": "The screen after bash:"}
    assert wire.refusals == []


def test_it_tells_what_failed(wire: WireServer) -> None:
    wire.will(completion(None, tool_call("bash", command="ls")), completion("Oh."))
    provider = other(wire)
    reply = provider.complete(SYSTEM, goal(), TOOLS)
    provider.complete(SYSTEM, [*goal(), reply, Answered((Result(reply.calls[0], "No such file.", ok=False),))], TOOLS)
    assert wire.last["messages"][-1]["content"] == "Error: No such file."


def test_it_sends_reasoning_back_as_it_came(wire: WireServer) -> None:
    call = tool_call("computer", action="screenshot")
    wire.will(completion("Hm.", call, reasoning_content="I look “around” 😀"), completion("Done."))
    turns = step(other(wire), goal())
    assert reply_of(turns).reasoning == "I look “around” 😀"
    step(other(wire), stored(turns))
    assert wire.last["messages"][2] == {
        "role": "assistant",
        "content": "Hm.",
        "reasoning_content": "I look “around” 😀",
        "tool_calls": [call],
    }


def test_it_repeats_every_request_and_leaves_out_old_pictures_in_batches(wire: WireServer) -> None:
    wire.will(*(completion(None, tool_call("computer", action="screenshot")) for _ in range(8)))
    provider, turns = other(wire, keep=2, every=4), goal()
    for _ in range(8):
        turns = step(provider, turns)
    assert [pictures_in(request.body) - 1 for request in wire.requests] == [0, 1, 2, 3, 4, 5, 2, 3]
    for place, (before, after) in enumerate(pairwise(request.body["messages"] for request in wire.requests)):
        assert is_prefix(before, after) is (place != 5)
    assert wire.refusals == []


def test_it_gives_two_branches_the_same_beginning(wire: WireServer) -> None:
    wire.will(completion(None, tool_call("computer", action="screenshot")))
    provider = other(wire)
    trunk = step(provider, goal())
    for hint in ("Try the menu.", "Try the keyboard."):
        wire.will(completion("Yes."))
        provider.complete(SYSTEM, [*trunk, Said((hint,))], TOOLS)
    one, two = (request.body["messages"] for request in wire.requests[-2:])
    assert one[:-1] == two[:-1]
    assert one[-1] != two[-1]


def test_it_tells_a_reply_of_another_vendor_in_its_own_words(wire: WireServer) -> None:
    wire.will(completion("I see."))
    reply = foreign_reply()
    other(wire).complete(SYSTEM, [*goal(), reply, carried_out(reply)], TOOLS)
    told = wire.last["messages"][2]
    assert told["content"] == "I click."
    assert [call["function"] for call in told["tool_calls"]] == [
        {"name": "computer", "arguments": '{"action": "left_click", "coordinate": [3, 4]}'},
        {"name": "run_a_command_", "arguments": '{"command": "ls"}'},
    ]
    assert wire.refusals == []


@pytest.mark.parametrize(
    ("name", "space", "words"),
    [
        ("pixels", Space.PIXELS, "in pixels"),
        ("thousand", Space.THOUSAND, "0 to 999"),
        ("per_mille", Space.PER_MILLE, "0 to 1000"),
    ],
)
def test_it_says_how_coordinates_count(wire: WireServer, name: str, space: Space, words: str) -> None:
    wire.will(completion("Yes."))
    provider = other(wire, space=name)
    provider.complete(SYSTEM, goal(), TOOLS)
    assert provider.space() is space
    assert words in wire.last["tools"][0]["function"]["description"]


def test_it_takes_pictures_of_whole_multiples(wire: WireServer) -> None:
    wire.will(completion("Yes."))
    provider = other(wire, multiple=28)
    width, height = Frame.fit((1280, 800), provider.limits()).size
    assert (width % 28, height % 28, provider.limits().media_type) == (0, 0, "image/png")
    provider.complete(SYSTEM, [Said(("Look.", picture(3000, 2000)))], TOOLS)
    sent = picture_size_of_url(wire.last["messages"][1]["content"][1]["image_url"]["url"], "")
    assert [side % 28 for side in sent] == [0, 0]


def test_it_counts_tokens_and_does_not_guess_money(wire: WireServer) -> None:
    wire.will(completion("Hi."), {**completion("Hi."), "usage": None})
    reply = other(wire).complete(SYSTEM, goal(), TOOLS)
    assert (reply.usage, reply.cost) == (Usage(60, 10, 40), None)
    assert other(wire).complete(SYSTEM, goal(), TOOLS).usage == Usage()


@pytest.mark.parametrize(("reason", "words"), [("length", "raise max_tokens"), ("content_filter", "declined")])
def test_it_says_why_a_reply_is_none(wire: WireServer, reason: str, words: str) -> None:
    wire.will(completion("Half a", finish_reason=reason))
    with pytest.raises(ProviderError, match=words) as caught:
        other(wire).complete(SYSTEM, goal(), TOOLS)
    assert caught.value.permanent


def test_it_does_not_tell_others_about_an_account_at_openai(wire: WireServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-ours")
    wire.will(completion("Hi."))
    other(wire).complete(SYSTEM, goal(), TOOLS)
    assert "org-of-ours" not in str(wire.requests[0].headers)
