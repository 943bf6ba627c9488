"""A branch as an ATIF trajectory (v1.7): a line of steps with a shared beginning that is marked as copied.

People and checks are no agents there: what a person did is a `user` step, what GodHand did a `system` step, and
`extra.godhand` says what it really was.
"""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tomllib import loads
from typing import Any

from ..events import Actor, Kind, Recorded
from ..payloads import Json, Sha256
from ..sentences import sentence
from ..tree import Lane
from .base import Facts

SCHEMA = "ATIF-v1.7"
PROJECT = Path(__file__).parents[2] / "pyproject.toml"

Picture = Callable[[Sha256], tuple[str, str]]
"""The media type of a picture, and its path from the file with the trajectory."""


def trajectory(facts: Facts, lane: Lane, path: Sequence[Recorded], picture: Picture) -> Json:
    steps = [_step(number, turn, lane, picture) for number, turn in enumerate(_turns(path), 1)]
    copied = [step["step_id"] for step in steps if step.get("is_copied_context")]
    return {
        "schema_version": SCHEMA,
        "session_id": facts.id,
        "trajectory_id": _name(facts, lane.branch),
        "agent": _agent(facts, path),
        "steps": steps,
        "final_metrics": _final(steps),
        "extra": {"godhand": _about(facts, lane, path, copied[-1] if copied else None)},
    }


def _name(facts: Facts, branch: str) -> str:
    return f"{facts.id}/{branch}"


def _agent(facts: Facts, path: Sequence[Recorded]) -> Json:
    replies = [event for event in path if _is_reply(event)]
    model = replies[-1].data["model"] if replies else str(facts.meta.get("model") or "")
    about = {key: facts.meta[key] for key in ("provider", "image", "backend") if facts.meta.get(key)}
    return {
        "name": "godhand",
        "version": str(loads(PROJECT.read_text())["project"]["version"]) if PROJECT.exists() else "0",
        **({"model_name": model} if model else {}),
        **({"extra": about} if about else {}),
    }


def _about(facts: Facts, lane: Lane, path: Sequence[Recorded], forked_at: int | None) -> Json:
    checks = [event.data["findings"] for event in path if event.kind == Kind.VERIFY]
    before = [event.data["snapshot"] for event in path if event.kind == Kind.SNAPSHOT and event.branch != lane.branch]
    return {
        "trace_id": facts.id,
        "task_id": facts.meta.get("task"),
        "title": facts.title,
        "state": facts.state,
        "branch_id": lane.branch,
        "parent_trajectory_id": _name(facts, lane.parent) if lane.parent else None,
        "forked_at_step": forked_at,
        "snapshot_id": before[-1] if before else None,
        "verify": checks[-1] if checks else [],
    }


def _turns(path: Sequence[Recorded]) -> Iterator[list[Recorded]]:
    """A reply with the actions it asked for is one step; every other event is one too."""
    turn: list[Recorded] = []
    for event in path:
        if turn and not (_is_reply(turn[0]) and _is_asked(event)):
            yield turn
            turn = []
        turn.append(event)
    if turn:
        yield turn


def _is_reply(event: Recorded) -> bool:
    return event.kind == Kind.MESSAGE and "usage" in event.data


def _is_asked(event: Recorded) -> bool:
    return event.kind == Kind.ACTION and event.actor == Actor.AGENT


def _step(number: int, turn: Sequence[Recorded], lane: Lane, picture: Picture) -> Json:
    first = turn[0]
    step: dict[str, Any] = {"step_id": number}
    if first.started_at or first.ended_at:
        step["timestamp"] = (first.started_at or first.ended_at).isoformat()  # type: ignore[union-attr]
    if _is_reply(first):
        step |= _reply(first)
    elif _is_asked(first):
        step |= {"source": "agent", "message": sentence(first), "llm_call_count": 0}
    else:
        step |= {"source": _source(first), "message": _message(first, picture)}
    calls = [event for event in turn if _is_asked(event)]
    if calls:
        names = _call_ids(calls)
        step["tool_calls"] = [_call(event, name) for event, name in zip(calls, names, strict=True)]
        step["observation"] = {
            "results": [_result(event, name, picture) for event, name in zip(calls, names, strict=True)]
        }
    elif first.after:
        step["observation"] = {"results": [{"content": [_image(first.after, picture)]}]}
    if lane.forked_at is not None and first.branch != lane.branch and first.seq <= lane.forked_at:
        step["is_copied_context"] = True
    step["extra"] = {"godhand": _facts_of(first)}
    return step


def _source(event: Recorded) -> str:
    return "user" if event.actor == Actor.HUMAN or event.kind == Kind.MESSAGE else "system"


def _message(event: Recorded, picture: Picture) -> Json:
    if event.kind != Kind.MESSAGE:
        return sentence(event)
    parts = [
        _image(part["picture"], picture) if "picture" in part else {"type": "text", "text": part["text"]}
        for part in event.data["parts"]
    ]
    return parts if any(part["type"] == "image" for part in parts) else event.data["text"]


def _reply(event: Recorded) -> dict[str, Any]:
    data, usage = event.data, event.data["usage"]
    metrics = {
        "prompt_tokens": usage["input"] + usage["cache_read"] + usage["cache_write"],
        "completion_tokens": usage["output"],
        "cached_tokens": usage["cache_read"],
        **({"cost_usd": data["cost"]} if data["cost"] is not None else {}),
        "extra": {"cache_write_tokens": usage["cache_write"]},
    }
    reasoning = {"reasoning_content": data["reasoning"]} if data["reasoning"] else {}
    model = {"model_name": data["model"]} if data["model"] else {}
    return {"source": "agent", "message": data["text"], **model, **reasoning, "metrics": metrics, "llm_call_count": 1}


def _call_ids(calls: Sequence[Recorded]) -> list[str]:
    """Those of the model, unless it gave one twice or none."""
    given = [str(event.data["id"] or "") for event in calls]
    fine = all(given) and len(set(given)) == len(given)
    return given if fine else [f"call_{event.seq}" for event in calls]


def _call(event: Recorded, name: str) -> Json:
    given = event.data["input"]
    return {
        "tool_call_id": name,
        "function_name": event.name or event.data["name"],
        "arguments": given if isinstance(given, dict) else {"input": given},
        "extra": {"godhand": {"seq": event.seq, "fate": event.fate.value, "ok": event.ok, "act": event.act}},
    }


def _result(event: Recorded, name: str, picture: Picture) -> Json:
    result = event.result or {}
    sent = result.get("sent") or {}
    content: list[Json] = [{"type": "text", "text": sent.get("text") or result.get("text") or event.fate.value}]
    if seen := sent.get("picture") or event.after:
        content.append(_image(seen, picture))
    about = {key: result.get(key) for key in ("took_ms", "settle_ms", "change") if result.get(key) is not None}
    return {"source_call_id": name, "content": content, "extra": {"godhand": about}}


def _image(sha256: Sha256, picture: Picture) -> Json:
    media_type, path = picture(sha256)
    return {"type": "image", "source": {"media_type": media_type, "path": path}}


def _facts_of(event: Recorded) -> Json:
    about: dict[str, Any] = {"seq": event.seq, "branch": event.branch, "kind": event.kind.value, "name": event.name}
    about["source"] = event.actor.value
    if event.kind == Kind.VERIFY:
        about["verify"] = event.data["findings"]
    elif event.kind not in (Kind.MESSAGE, Kind.ACTION):
        about["data"] = event.data
    return about


def _final(steps: Sequence[Json]) -> Json:
    metrics = [step["metrics"] for step in steps if "metrics" in step]
    return {
        "total_prompt_tokens": sum(each["prompt_tokens"] for each in metrics),
        "total_completion_tokens": sum(each["completion_tokens"] for each in metrics),
        "total_cached_tokens": sum(each["cached_tokens"] for each in metrics),
        "total_cost_usd": sum(each.get("cost_usd", 0) for each in metrics),
        "total_steps": len(steps),
    }
