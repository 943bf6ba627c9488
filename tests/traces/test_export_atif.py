"""ATIF files are what the format's own model says, and what our rules for branches say."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from atif import Trajectory

from traces.blobs import BlobStore
from traces.events import Actor, Kind
from traces.export.atif import AtifExporter
from traces.export.base import Scope, Silent
from traces.export.zip import ZipExporter
from traces.material import StoredMaterial
from traces.models import Trace

from .conftest import RecorderOf, call, plan
from .stories import tell

Files = dict[str, bytes]


@pytest.fixture
def told(trace: Trace, recorder_of: RecorderOf) -> Trace:
    tell(recorder_of)
    return trace


def written(trace: Trace, store: BlobStore, out: Path, scope: Scope | None = None) -> Files:
    AtifExporter().write(StoredMaterial(trace, scope, store=store), out, Silent())
    with zipfile.ZipFile(out) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def branch(files: Files, name: str) -> Any:
    """Raises what the model of the format raises."""
    data = json.loads(files[f"{name}.json"])
    Trajectory.model_validate(data)
    return data


def images(node: Any) -> list[str]:
    if isinstance(node, dict):
        own = [node["source"]["path"]] if node.get("type") == "image" else []
        return own + [path for value in node.values() for path in images(value)]
    return [path for value in node for path in images(value)] if isinstance(node, list) else []


def test_it_is_valid_and_follows_our_rules(told: Trace, store: BlobStore, tmp_path: Path) -> None:
    files = written(told, store, tmp_path / "a.zip")
    for name in ("main", "b1"):
        data = branch(files, name)
        assert data["schema_version"] == "ATIF-v1.7"
        assert [step["step_id"] for step in data["steps"]] == list(range(1, len(data["steps"]) + 1))
        assert images(data)
        assert set(images(data)) <= set(files), "every picture lies beside the file, by relative path"
        for step in data["steps"]:
            calls = {each["tool_call_id"] for each in step.get("tool_calls", ())}
            given = {each["source_call_id"] for each in step.get("observation", {"results": ()})["results"]
                     if "source_call_id" in each}  # fmt: skip
            assert given == calls
            if step["source"] != "agent":
                assert not step.keys() & {"metrics", "tool_calls", "reasoning_content", "model_name"}


def test_it_marks_what_branches_share(told: Trace, store: BlobStore, tmp_path: Path) -> None:
    files = written(told, store, tmp_path / "a.zip")
    main, fork = branch(files, "main"), branch(files, "b1")
    copied = [step["step_id"] for step in fork["steps"] if step.get("is_copied_context")]
    about = fork["extra"]["godhand"]
    assert not any(step.get("is_copied_context") for step in main["steps"])
    assert copied == [1, 2, 3, 4]
    assert about["forked_at_step"] == 4
    assert about["parent_trajectory_id"] == main["trajectory_id"]
    assert (about["branch_id"], about["snapshot_id"], about["trace_id"]) == ("b1", "s1", told.pk)
    assert [step["message"] for step in fork["steps"][:4]] == [step["message"] for step in main["steps"][:4]]
    assert fork["steps"][4]["message"] == "Try the menu"


def test_it_says_what_was_checked_spent_and_done(told: Trace, store: BlobStore, tmp_path: Path) -> None:
    data = branch(written(told, store, tmp_path / "a.zip"), "b1")
    assert data["extra"]["godhand"]["verify"][0]["outcome"] == "passed"
    typed = next(step for step in data["steps"] if step.get("tool_calls", [{}])[0].get("function_name") == "type")
    assert typed["metrics"] == {
        "prompt_tokens": 103,
        "completion_tokens": 20,
        "cached_tokens": 3,
        "cost_usd": 0.25,
        "extra": {"cache_write_tokens": 0},
    }
    assert typed["reasoning_content"] == "It is the button."
    assert typed["tool_calls"][0]["arguments"] == {"text": "=SUM(A1:A9)"}
    assert data["final_metrics"]["total_cost_usd"] == pytest.approx(0.75)
    assert data["final_metrics"]["total_steps"] == len(data["steps"])


def test_it_tells_people_from_agents(trace: Trace, recorder_of: RecorderOf, store: BlobStore, tmp_path: Path) -> None:
    recorder = recorder_of()
    recorder.message(Actor.HUMAN, "Log in", turn=0, name="goal")
    recorder.event(Kind.TAKEOVER, Actor.HUMAN, {"text": "Logged in by hand"}, name="takeover")
    plan(recorder, call("click", 1), call("click", 1))
    recorder.limit("steps", "No more steps.", allowed=2, used=2)
    data = branch(written(trace, store, tmp_path / "a.zip"), "main")
    assert [step["source"] for step in data["steps"]] == ["user", "user", "agent", "system"]
    assert data["steps"][1]["extra"]["godhand"]["source"] == "human"
    ids = [each["tool_call_id"] for each in data["steps"][2]["tool_calls"]]
    assert len(set(ids)) == 2, "a model that gives an id twice is put right"


@pytest.mark.parametrize("scope", [Scope("main"), Scope("b1", 5, 9), Scope("main", 4, 6)])
def test_it_is_valid_for_a_part(told: Trace, store: BlobStore, tmp_path: Path, scope: Scope) -> None:
    files = written(told, store, tmp_path / "a.zip", scope)
    assert [name for name in files if name.endswith(".json")] == [f"{scope.branch}.json"]
    assert branch(files, scope.branch)["steps"]


def test_the_bundle_has_the_same_with_paths_of_its_own(told: Trace, store: BlobStore, tmp_path: Path) -> None:
    ZipExporter().write(StoredMaterial(told, store=store), tmp_path / "a.zip", Silent())
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        data = json.loads(archive.read("atif/b1.json"))
        names = set(archive.namelist())
    Trajectory.model_validate(data)
    assert {path.removeprefix("../") for path in images(data)} <= names


def test_it_gives_odd_branches_plain_names(
    trace: Trace, recorder_of: RecorderOf, store: BlobStore, tmp_path: Path
) -> None:
    root = recorder_of("../a").message(Actor.HUMAN, "Go", turn=0, name="goal")
    recorder_of("..:a", root).message(Actor.HUMAN, "Go on", turn=0)
    names = [name for name in written(trace, store, tmp_path / "a.zip") if name.endswith(".json")]
    assert names == ["___a.json", "___a-1.json"]
