"""The scripts that come with GodHand are whole. `tests/agents/test_demo_task.py` plays them in a machine."""

import re
from pathlib import Path

import pytest

from agents.providers._script import load, shipped


@pytest.mark.parametrize("name", shipped())
def test_it_knows_every_call_and_label(name: str) -> None:
    script = load(name)
    assert script.title
    assert {doing.name for step in script.steps for doing in step.do} >= {"bash", "deliver", "done"}


def test_it_uses_one_program_in_both() -> None:
    """But for what makes the one wrong."""
    texts = [Path(f"agents/scripts/{name}.toml").read_text() for name in ("chart", "chart_wrong")]
    right, wrong = (re.findall(r"'''\n(.*?)'''", text, re.DOTALL)[0].splitlines() for text in texts)
    assert [line for line in right if line not in wrong and "rows)" not in line and "len(rows)" not in line] == []
