from itertools import pairwise
from typing import Any

import pytest

from agents.errors import ProviderError
from agents.turns import Answered, Result, Said, Usage

from .conftest import gpt
from .scene import SYSTEM, TOOLS, carried_out, foreign_reply, goal, is_prefix, picture, reply_of, step, stored
from .wire import WireServer
from .wire.refusal import picture_size_of_url
from .wire.replies import computer_call, function_call, reasoning, response, said


def done(wire: WireServer) -> None:
    wire.will(response(said("Done.")))


def given(reply_calls: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, dict(call.input)) for call in reply_calls]


def test_it_tells_a_goal_with_the_computer_zoom_and_our_tools(wire: WireServer) -> None:
    done(wire)
    reply = gpt(wire, effort="low").complete(SYSTEM, goal(), TOOLS)
    body = wire.last
    assert body["tools"][0] == {"type": "computer"}
    assert [tool["name"] for tool in body["tools"][1:]] == ["zoom", "bash", "done"]
    assert body["tools"][2] == {
        "type": "function",
        "name": "bash",
        "description": "Run a command.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}},
        "strict": False,
    }
    assert [part["type"] for part in body["input"][0]["content"]] == ["input_text", "input_image"]
    assert (body["store"], body["include"]) == (False, ["reasoning.encrypted_content"])
    assert body["reasoning"] == {"effort": "low", "summary": "auto"}
    assert body["context_management"] == [{"type": "compaction", "compact_threshold": 200_000}]
    assert body["instructions"] == SYSTEM
    assert (reply.text, reply.kind, reply.model) == ("Done.", "openai", "gpt-5.6")


def test_it_leaves_out_what_is_not_wished(wire: WireServer) -> None:
    done(wire)
    gpt(wire, summary="", compact_above=0).complete("", goal(), TOOLS)
    assert not {"reasoning", "context_management", "instructions"} & set(wire.last)


@pytest.mark.parametrize(
    ("action", "calls"),
    [
        ({"type": "click", "button": "left", "x": 1, "y": 2}, [("left_click", {"coordinate": [1, 2]})]),
        (
            {"type": "click", "button": "right", "x": 1, "y": 2, "keys": ["CTRL", "SHIFT"]},
            [("right_click", {"coordinate": [1, 2], "text": "ctrl+shift"})],
        ),
        ({"type": "click", "button": "wheel", "x": 1, "y": 2}, [("middle_click", {"coordinate": [1, 2]})]),
        ({"type": "click", "button": "back", "x": 1, "y": 2}, [("key", {"text": "alt+Left"})]),
        ({"type": "double_click", "x": 1, "y": 2, "keys": None}, [("double_click", {"coordinate": [1, 2]})]),
        ({"type": "move", "x": 1, "y": 2}, [("mouse_move", {"coordinate": [1, 2]})]),
        ({"type": "screenshot"}, [("screenshot", {})]),
        ({"type": "type", "text": "Hi"}, [("type", {"text": "Hi"})]),
        ({"type": "keypress", "keys": ["CTRL", "+"]}, [("key", {"text": "ctrl++"})]),
        ({"type": "wait"}, [("wait", {"duration": 2})]),
        (
            {"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": -250},
            [("scroll", {"coordinate": [1, 2], "scroll_direction": "up", "scroll_amount": 2})],
        ),
        (
            {"type": "scroll", "x": 1, "y": 2, "scroll_x": 30, "scroll_y": 100},
            [
                ("scroll", {"coordinate": [1, 2], "scroll_direction": "down", "scroll_amount": 1}),
                ("scroll", {"coordinate": [1, 2], "scroll_direction": "right", "scroll_amount": 1}),
            ],
        ),
        (
            {"type": "scroll", "x": 1, "y": 2, "scroll_x": 0, "scroll_y": 0},
            [("mouse_move", {"coordinate": [1, 2]})],
        ),
        (
            {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}], "keys": ["ALT"]},
            [("left_click_drag", {"start_coordinate": [1, 2], "coordinate": [3, 4], "text": "alt"})],
        ),
        (
            {"type": "drag", "path": [{"x": 1, "y": 2}, {"x": 3, "y": 4}, {"x": 5, "y": 6}]},
            [
                ("mouse_move", {"coordinate": [1, 2]}),
                ("left_mouse_down", {}),
                ("mouse_move", {"coordinate": [3, 4]}),
                ("mouse_move", {"coordinate": [5, 6]}),
                ("left_mouse_up", {}),
            ],
        ),
        ({"type": "drag", "path": []}, [("left_click_drag", {})]),
        ({"type": "click", "button": "nose", "x": 1, "y": 2}, [("click", {"coordinate": [1, 2]})]),
        ({"type": "somersault"}, [("somersault", {})]),
    ],
)
def test_it_translates_every_action(
    wire: WireServer, action: dict[str, Any], calls: list[tuple[str, dict[str, Any]]]
) -> None:
    wire.will(response(computer_call(action)))
    reply = gpt(wire).complete(SYSTEM, goal(), TOOLS)
    assert given(reply.calls) == calls
    assert {call.toolset for call in reply.calls} == {"computer"}


@pytest.mark.parametrize("batch", [{"actions": []}, {"actions": None, "action": {"type": "screenshot"}}])
def test_it_has_a_call_for_every_item_that_wants_an_answer(wire: WireServer, batch: dict[str, Any]) -> None:
    wire.will(response({**computer_call(), **batch}))
    done(wire)
    step(gpt(wire), step(gpt(wire), goal()))
    assert wire.refusals == []


def test_it_answers_a_batch_with_one_screenshot(wire: WireServer) -> None:
    batch = computer_call({"type": "click", "button": "left", "x": 1, "y": 2}, {"type": "type", "text": "a"})
    wire.will(response(reasoning("Type."), batch, function_call("zoom", region=[0, 0, 9, 9])))
    done(wire)
    provider = gpt(wire)
    reply = provider.complete(SYSTEM, goal(), TOOLS)
    assert [call.id for call in reply.calls[:2]] == [f"{batch['call_id']}#0", f"{batch['call_id']}#1"]
    assert (reply.calls[2].toolset, given(reply.calls)[2]) == ("computer", ("zoom", {"region": [0, 0, 9, 9]}))
    shown = (picture(70, 70), picture(50, 30), picture(20, 20))
    answered = Answered(tuple(Result(call, "OK", seen) for call, seen in zip(reply.calls, shown, strict=True)))
    provider.complete(SYSTEM, [*goal(), reply, answered], TOOLS)
    screen, zoomed = wire.last["input"][-2:]
    assert (screen["type"], screen["call_id"]) == ("computer_call_output", batch["call_id"])
    assert picture_size_of_url(screen["output"]["image_url"], "") == (50, 30)
    assert picture_size_of_url(zoomed["output"][1]["image_url"], "") == (20, 20)
    assert wire.refusals == []


def test_it_never_takes_a_zoomed_part_for_the_screen(wire: WireServer) -> None:
    wire.will(response(computer_call({"type": "wait"}), function_call("zoom", region=[0, 0, 9, 9])))
    done(wire)
    provider = gpt(wire)
    reply = provider.complete(SYSTEM, goal(), TOOLS)
    answered = Answered((Result(reply.calls[0], "OK"), Result(reply.calls[1], "The part.", picture(20, 20))))
    provider.complete(SYSTEM, [*goal(), reply, answered], TOOLS)
    screen, zoomed = wire.last["input"][-2:]
    assert picture_size_of_url(screen["output"]["image_url"], "") == (64, 40)
    assert picture_size_of_url(zoomed["output"][1]["image_url"], "") == (20, 20)


def test_it_says_in_words_what_a_screenshot_cannot(wire: WireServer) -> None:
    wire.will(response(computer_call({"type": "wait"}, {"type": "screenshot"})))
    done(wire)
    provider = gpt(wire)
    reply = provider.complete(SYSTEM, goal(), TOOLS)
    answered = Answered((Result(reply.calls[0], "The clock stopped.", ok=False), Result(reply.calls[1], "OK")))
    provider.complete(SYSTEM, [*goal(), reply, answered], TOOLS)
    screen, remark = wire.last["input"][-2:]
    assert picture_size_of_url(screen["output"]["image_url"], "") == (64, 40)
    assert remark["content"] == [{"type": "input_text", "text": "wait: The clock stopped."}]


def test_it_has_a_picture_even_when_none_was_taken(wire: WireServer) -> None:
    wire.will(response(computer_call({"type": "screenshot"})))
    done(wire)
    provider, asked = gpt(wire), [Said(("Go.",))]
    reply = provider.complete(SYSTEM, asked, TOOLS)
    provider.complete(SYSTEM, [*asked, reply, Answered((Result(reply.calls[0], "No screen.", ok=False),))], TOOLS)
    assert wire.refusals == []


def test_it_sends_reasoning_back_as_it_came(wire: WireServer) -> None:
    sealed = reasoning("I look “around” 😀")
    wire.will(response(sealed, computer_call({"type": "screenshot"})))
    done(wire)
    turns = step(gpt(wire), goal())
    assert reply_of(turns).reasoning == "I look “around” 😀"
    step(gpt(wire), stored(turns))
    assert wire.last["input"][1] == sealed
    assert list(wire.last["input"][1]) == list(sealed)
    assert wire.refusals == []


def test_it_repeats_every_request_at_the_beginning_of_the_next(wire: WireServer) -> None:
    wire.will(*(response(reasoning("."), computer_call({"type": "screenshot"})) for _ in range(4)))
    provider, turns = gpt(wire), goal()
    for _ in range(4):
        turns = step(provider, turns)
    for before, after in pairwise(request.body for request in wire.requests):
        assert is_prefix(before["input"], after["input"])
        assert {name: before[name] for name in before if name != "input"} == {
            name: after[name] for name in after if name != "input"
        }


def test_it_gives_two_branches_the_same_beginning(wire: WireServer) -> None:
    wire.will(response(reasoning("."), computer_call({"type": "screenshot"})))
    provider = gpt(wire)
    trunk = step(provider, goal())
    for hint in ("Try the menu.", "Try the keyboard."):
        done(wire)
        provider.complete(SYSTEM, [*trunk, Said((hint,))], TOOLS)
    one, two = (request.body for request in wire.requests[-2:])
    assert one["input"][:-1] == two["input"][:-1]
    assert one["input"][-1] != two["input"][-1]
    assert one["prompt_cache_key"] == two["prompt_cache_key"]


def test_it_tells_a_reply_of_another_vendor_in_its_own_words(wire: WireServer) -> None:
    done(wire)
    reply = foreign_reply()
    gpt(wire).complete(SYSTEM, [*goal(), reply, carried_out(reply)], TOOLS)
    words, click, odd, first, second = wire.last["input"][1:]
    assert words["content"] == [{"type": "output_text", "text": "I click."}]
    assert (click["name"], click["arguments"]) == ("left_click", '{"coordinate": [3, 4]}')
    assert odd["name"] == "run_a_command_"
    assert [item["call_id"] for item in (first, second)] == [click["call_id"], odd["call_id"]]
    assert first["output"] == "OK"
    assert [part["type"] for part in second["output"]] == ["input_text", "input_image"]
    assert wire.refusals == []


CHECK = {"id": "sc_1", "code": "malicious_instructions", "message": "The screen gives orders."}


def test_it_stops_where_a_person_should_look(wire: WireServer) -> None:
    wire.will(response(computer_call({"type": "screenshot"}, checks=(CHECK,))))
    with pytest.raises(ProviderError, match=r"malicious_instructions: The screen gives orders\.") as caught:
        gpt(wire).complete(SYSTEM, goal(), TOOLS)
    assert caught.value.permanent


def test_it_acknowledges_checks_when_told_to(wire: WireServer) -> None:
    wire.will(response(computer_call({"type": "screenshot"}, checks=(CHECK,))))
    done(wire)
    provider = gpt(wire, acknowledge_safety=True)
    step(provider, step(provider, goal()))
    assert wire.last["input"][-1]["acknowledged_safety_checks"] == [CHECK]
    assert wire.refusals == []


def test_it_keeps_pictures_at_a_size_that_is_not_changed(wire: WireServer) -> None:
    done(wire)
    gpt(wire).complete(SYSTEM, [Said(("Look.", picture(2700, 1900)))], TOOLS)
    width, height = picture_size_of_url(wire.last["input"][0]["content"][1]["image_url"], "")
    assert gpt(wire).limits().allow(width, height)


def test_it_passes_on_arguments_that_are_no_json(wire: WireServer) -> None:
    wire.will(response({**function_call("bash"), "arguments": '{"command": "ls'}))
    reply = gpt(wire).complete(SYSTEM, goal(), TOOLS)
    assert given(reply.calls) == [("bash", {"unreadable": '{"command": "ls'})]


def test_it_counts_tokens_and_money(wire: WireServer) -> None:
    done(wire)
    reply = gpt(wire).complete(SYSTEM, goal(), TOOLS)
    assert reply.usage == Usage(50, 10, 40, 10)
    assert reply.cost == pytest.approx((50 * 4 + 10 * 20 + 40 * 0.4 + 10 * 4) / 1e6)


@pytest.mark.parametrize(
    ("status", "more", "words", "permanent"),
    [
        ("incomplete", {"incomplete_details": {"reason": "max_output_tokens"}}, "raise max_tokens", True),
        ("incomplete", {"incomplete_details": {"reason": "content_filter"}}, "declined", True),
        ("failed", {"error": {"code": "server_error", "message": "Oops."}}, "Oops", False),
        ("failed", {"error": {"code": "bio_policy", "message": "No."}}, "No", True),
    ],
)
def test_it_says_why_a_reply_is_none(
    wire: WireServer, status: str, more: dict[str, Any], words: str, permanent: bool
) -> None:
    wire.will(response(status=status, **more))
    with pytest.raises(ProviderError, match=words) as caught:
        gpt(wire).complete(SYSTEM, goal(), TOOLS)
    assert caught.value.permanent is permanent
