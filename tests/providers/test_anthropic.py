from itertools import pairwise
from typing import Any

import pytest

from agents.errors import ProviderError
from agents.providers._claude import dialect
from agents.turns import Answered, Call, Result, Said, Turn, Usage

from .conftest import claude
from .scene import SYSTEM, TOOLS, carried_out, foreign_reply, goal, is_prefix, picture, reply_of, step, stored
from .wire import WireServer
from .wire.messages import unmarked
from .wire.replies import action, message, text, thinking, use


def kinds(content: list[dict[str, Any]]) -> list[str]:
    return [block["type"] for block in content]


def marked(body: dict[str, Any]) -> list[int]:
    """Which messages have a mark for the cache on their last block."""
    return [n for n, said in enumerate(body["messages"]) if "cache_control" in said["content"][-1]]


def test_it_tells_a_goal_with_the_toolset_and_our_tools(wire: WireServer) -> None:
    wire.will(message(text("Hello.")))
    reply = claude(wire, effort="low").complete(SYSTEM, goal(), TOOLS)
    body = wire.last
    assert body["tools"][0] == {"type": "computer_toolset_20260801"}
    assert body["tools"][1] == {
        "name": "bash",
        "description": "Run a command.",
        "input_schema": {"type": "object", "properties": {"command": {"type": "string"}}},
    }
    assert body["system"] == [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral", "ttl": "5m"}}]
    assert kinds(body["messages"][0]["content"]) == ["text", "image"]
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"] == {"effort": "low"}
    assert set(body) == {"model", "max_tokens", "messages", "system", "tools", "thinking", "output_config"}
    assert "anthropic-beta" not in wire.requests[0].headers
    assert (reply.text, reply.calls, reply.kind, reply.model) == ("Hello.", (), "anthropic", "claude-opus-5-5")


def test_it_reads_a_batch_with_a_zoom_and_echoes_the_toolset(wire: WireServer) -> None:
    wire.will(
        message(
            text("Two things."),
            action("left_click", coordinate=[10, 20]),
            action("zoom", region=[0, 0, 32, 20]),
            use("bash", command="ls"),
        ),
        message(text("Fine.")),
    )
    turns = step(claude(wire), goal())
    assert [(call.toolset, call.name) for call in reply_of(turns).calls] == [
        ("computer", "left_click"),
        ("computer", "zoom"),
        ("", "bash"),
    ]
    assert reply_of(turns).calls[1].input == {"region": [0, 0, 32, 20]}
    step(claude(wire), turns)
    results = wire.last["messages"][-1]["content"]
    assert [block.get("toolset_name") for block in results] == ["computer", "computer", None]
    assert kinds(results[2]["content"]) == ["text", "image"]
    assert [block["tool_use_id"] for block in results] == [call.id for call in reply_of(turns).calls]


def test_it_tells_what_failed_and_what_said_nothing(wire: WireServer) -> None:
    wire.will(message(action("wait", duration=1), action("key", text="q")), message(text("Oh.")))
    provider = claude(wire)
    reply = provider.complete(SYSTEM, goal(), TOOLS)
    failed = "Not executed: an earlier computer action in this turn failed."
    answered = Answered((Result(reply.calls[0], " \n"), Result(reply.calls[1], failed, ok=False)))
    provider.complete(SYSTEM, [*goal(), reply, answered], TOOLS)
    first, second = wire.last["messages"][-1]["content"]
    assert first["content"] == [{"type": "text", "text": "OK"}]
    assert "is_error" not in first
    assert second["content"] == [{"type": "text", "text": failed}]
    assert second["is_error"] is True


def test_it_sends_thinking_back_as_it_came(wire: WireServer) -> None:
    thought = thinking("Where is it? “Ünïcödé” 😀")
    wire.will(message(thought, action("screenshot")), message(text("There.")))
    turns = step(claude(wire), goal())
    assert reply_of(turns).reasoning == thought["thinking"]
    step(claude(wire), stored(turns))
    assert wire.last["messages"][1]["content"][0] == thought
    assert list(wire.last["messages"][1]["content"][0]) == list(thought)
    assert wire.refusals == []


def test_it_repeats_every_request_at_the_beginning_of_the_next(wire: WireServer) -> None:
    wire.will(*(message(thinking(f"{n}"), action("mouse_move", coordinate=[n, n])) for n in range(5)))
    provider, turns = claude(wire), goal()
    for _ in range(5):
        turns = step(provider, turns)
    bodies = [request.body for request in wire.requests]
    for before, after in pairwise(bodies):
        assert is_prefix(unmarked(before["messages"]), unmarked(after["messages"]))
        assert (before["tools"], before["system"]) == (after["tools"], after["system"])
    assert marked(bodies[4]) == [4, 6, 8]


def test_it_gives_two_branches_the_same_beginning(wire: WireServer) -> None:
    wire.will(*(message(thinking("."), action("screenshot")) for _ in range(4)))
    provider = claude(wire)
    trunk = step(provider, step(provider, goal()))
    for hint in ("Try the menu.", "Try the keyboard."):
        provider.complete(SYSTEM, [*trunk, Said((hint,))], TOOLS)
    one, two = (unmarked(request.body["messages"]) for request in wire.requests[-2:])
    assert one[:-1] == two[:-1]
    assert [said["content"] for said in (one[-1], two[-1])] == [
        [{"type": "text", "text": "Try the menu."}],
        [{"type": "text", "text": "Try the keyboard."}],
    ]
    assert wire.refusals == []


def test_it_puts_the_mark_on_the_tools_when_there_is_no_system(wire: WireServer) -> None:
    wire.will(message(text("Yes.")))
    claude(wire, cache_ttl="1h").complete(" ", goal(), TOOLS)
    assert "system" not in wire.last
    assert wire.last["tools"][-1]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


def long_run(wire: WireServer, model: str, steps: int) -> list[Turn]:
    provider, turns = claude(wire, model), goal()
    wire.will(*(message(thinking("."), action("screenshot"), use("bash", command="ls")) for _ in range(steps)))
    for _ in range(steps):
        turns = step(provider, turns)
    return turns


def pictures_in(body: dict[str, Any]) -> int:
    results = [block for said in body["messages"] for block in said["content"] if block["type"] == "tool_result"]
    return sum("image" in kinds(block["content"]) for block in results)


def test_it_leaves_out_old_pictures_in_batches(wire: WireServer) -> None:
    long_run(wire, "claude-sonnet-5", 31)
    assert [pictures_in(request.body) for request in wire.requests[26:31]] == [26, 27, 3, 4, 5]
    assert is_prefix(*(unmarked(request.body["messages"]) for request in wire.requests[28:30]))
    assert wire.refusals == []


def test_it_lets_the_service_leave_them_out_where_thinking_is_bound(wire: WireServer) -> None:
    long_run(wire, "claude-opus-5-5", 30)
    assert [pictures_in(request.body) for request in wire.requests[26:30]] == [26, 27, 28, 29]
    assert "context_management" not in wire.requests[27].body
    for request, kept in zip(wire.requests[28:30], (6, 8), strict=True):
        count = {"type": "tool_uses", "value": kept}
        edit = {"type": "clear_tool_uses_20250919", "trigger": count, "keep": count, "exclude_tools": ["bash", "done"]}
        assert request.body["context_management"] == {"edits": [edit]}
        assert request.headers["anthropic-beta"] == "context-management-2025-06-27"
    assert wire.refusals == []


@pytest.mark.parametrize(
    ("model", "tool"),
    [
        ("claude-opus-4-6", {"type": "computer_20251124", "enable_zoom": True}),
        ("claude-haiku-4-5", {"type": "computer_20250124"}),
    ],
)
def test_it_speaks_with_older_tools_through_the_same_words(wire: WireServer, model: str, tool: dict[str, Any]) -> None:
    wire.will(message(use("computer", action="left_click", coordinate=[5, 6])), message(text("Done.")))
    turns = step(claude(wire, model), goal())
    assert reply_of(turns).calls[0].input == {"coordinate": [5, 6]}
    assert (reply_of(turns).calls[0].toolset, reply_of(turns).calls[0].name) == ("computer", "left_click")
    step(claude(wire, model), turns)
    assert wire.last["tools"][0] == {**tool, "name": "computer", "display_width_px": 64, "display_height_px": 40}
    assert wire.last["messages"][-1]["content"][0].keys() == {"type", "tool_use_id", "content", "cache_control"}
    assert wire.requests[-1].headers["anthropic-beta"].startswith("computer-use-2025-")


@pytest.mark.parametrize("model", ["claude-opus-4-1-20250805", "claude-opus-4-20250514", "claude-sonnet-4-0"])
def test_it_knows_the_tool_of_the_first_claude_4(model: str) -> None:
    spoken = dialect(model)
    assert (spoken.tool, spoken.beta, spoken.thinks) == ("computer_20250124", "computer-use-2025-01-24", False)


def test_it_tells_older_tools_the_screen_when_nothing_was_shown_yet(wire: WireServer) -> None:
    wire.will(message(text("Yes.")))
    claude(wire, "claude-haiku-4-5", screen=(800, 600)).complete(SYSTEM, [Said(("Go.",))], TOOLS)
    assert (wire.last["tools"][0]["display_width_px"], wire.last["tools"][0]["display_height_px"]) == (800, 600)


@pytest.mark.parametrize("model", ["claude-opus-5-5", "claude-opus-4-6"])
def test_it_tells_a_reply_of_another_vendor_in_its_own_words(wire: WireServer, model: str) -> None:
    wire.will(message(text("I see.")))
    reply = foreign_reply()
    claude(wire, model).complete(SYSTEM, [*goal(), reply, carried_out(reply)], TOOLS)
    said, click, odd = wire.last["messages"][1]["content"]
    assert said == {"type": "text", "text": "I click."}
    if model == "claude-opus-5-5":
        assert (click["name"], click["toolset_name"], click["input"]) == (
            "left_click",
            "computer",
            {"coordinate": [3, 4]},
        )
    else:
        assert (click["name"], click["input"]) == ("computer", {"action": "left_click", "coordinate": [3, 4]})
    assert (odd["name"], odd["input"]) == ("run_a_command_", {"command": "ls"})
    assert wire.refusals == []


def test_it_retells_a_reply_that_used_another_version_of_the_tool(wire: WireServer) -> None:
    wire.will(message(use("computer", action="key", text="ctrl+s")), message(text("Saved.")))
    turns = step(claude(wire, "claude-haiku-4-5"), goal())
    step(claude(wire), turns)
    assert wire.last["messages"][1]["content"] == [
        {"type": "tool_use", "id": "call_1_0", "name": "key", "input": {"text": "ctrl+s"}, "toolset_name": "computer"}
    ]


def test_it_makes_pictures_small_enough(wire: WireServer) -> None:
    wire.will(*(message(text("Large.")) for _ in range(2)))
    for model in ("claude-opus-5-5", "claude-opus-4-6"):
        claude(wire, model).complete(SYSTEM, [Said(("Look.", picture(2700, 1900), picture(3000, 20)))], TOOLS)
    assert wire.refusals == []


def test_it_goes_on_after_a_reply_without_content(wire: WireServer) -> None:
    wire.will(message(), message(text("Sorry.")))
    turns = step(claude(wire), goal())
    step(claude(wire), [*turns, Said(("Go on.",))])
    assert [said["role"] for said in wire.last["messages"]] == ["user", "user"]
    assert wire.refusals == []


def test_it_counts_tokens_and_money(wire: WireServer) -> None:
    cached = {"cache_read_input_tokens": 10_000, "cache_creation_input_tokens": 2_000}
    wire.will(message(text("Hi."), usage={"input_tokens": 1_000, "output_tokens": 100, **cached}))
    reply = claude(wire).complete(SYSTEM, goal(), TOOLS)
    assert reply.usage == Usage(1_000, 100, 10_000, 2_000)
    assert reply.cost == pytest.approx(0.004 + 0.002 + 0.002 + 0.010)


@pytest.mark.parametrize(
    ("stop_reason", "words"),
    [("max_tokens", "raise max_tokens"), ("refusal", "declined"), ("model_context_window_exceeded", "too long")],
)
def test_it_says_why_a_reply_is_none(wire: WireServer, stop_reason: str, words: str) -> None:
    wire.will(message(text("Half a"), stop_reason=stop_reason))
    with pytest.raises(ProviderError, match=words) as caught:
        claude(wire).complete(SYSTEM, goal(), TOOLS)
    assert caught.value.permanent


def test_it_refuses_an_effort_that_the_model_does_not_take(wire: WireServer) -> None:
    with pytest.raises(ProviderError, match="takes no effort"):
        claude(wire, "claude-haiku-4-5", effort="low")


def test_it_takes_an_unknown_model_for_a_new_one(wire: WireServer) -> None:
    provider = claude(wire, "claude-opus-9")
    assert provider.limits().long_edge == 2000
    with pytest.raises(ProviderError, match="answered 404"):
        provider.complete(SYSTEM, [*goal(), foreign_reply(), Answered(answers())], TOOLS)
    assert wire.last["tools"][0] == {"type": "computer_toolset_20260801"}


def answers() -> tuple[Result, ...]:
    return tuple(Result(Call(f"{n}", "key", {}), "OK") for n in range(2))
