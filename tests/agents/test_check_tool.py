"""What a model is told of checks before it asks for one."""

from typing import Any, cast

import pytest

from agents.checkers.registry import catalogue
from agents.providers.scripted import ScriptedOptions, ScriptedProvider
from agents.tools.check import RunCheck
from agents.tools.registry import all_tools
from agents.verify import parse_checks
from agents.workplace import Workplace


def test_it_tells_the_model_every_kind_of_check() -> None:
    schema = RunCheck().spec().schema
    assert catalogue() in schema["properties"]["options"]["description"]


@pytest.mark.parametrize("name", all_tools())
def test_it_describes_a_tool_in_as_many_characters_as_services_take(name: str) -> None:
    assert 50 < len(all_tools()[name].spec().description) <= 1024


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["the report is there", "it is open"], "The task's checks:\nthe report is there\nit is open"),
        ([], "The task has no checks."),
    ],
)
def test_it_lists_the_checks_of_the_task(names: list[str], told: str) -> None:
    checks = parse_checks([{"name": name, "kind": "file_exists", "path": "x"} for name in names])
    place = Workplace(cast(Any, None), ScriptedProvider(ScriptedOptions("chart")), checks=checks)
    outcome = RunCheck().run({}, place)
    assert (outcome.ok, outcome.text) == (True, told)


@pytest.mark.parametrize(
    ("given", "again"),
    [
        ({"kind": "command_succeeds", "options": {"bash": "git push"}}, False),
        ({"kind": "http_ok", "options": {"url": "http://localhost"}}, False),
        ({"kind": "file_exists", "options": {"path": "a"}}, True),
        ({"name": "total"}, True),
        ({}, True),
    ],
)
def test_it_does_no_command_of_the_models_again_after_a_crash(given: dict[str, Any], again: bool) -> None:
    assert RunCheck().may_repeat(given) == again
