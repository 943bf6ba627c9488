import re
from dataclasses import fields
from pathlib import Path

from agents.checkers.base import is_needed
from agents.checkers.registry import kinds
from agents.verify import parse_checks

PAGE = (Path(__file__).parents[2] / "docs/checks.md").read_text()


def test_it_parses_the_example() -> None:
    [example] = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert len(parse_checks(example)) == 6


def test_it_documents_every_kind_and_option() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| .* \|$", PAGE, re.MULTILINE)
    documented = {kind: re.findall(r"(\**)`(\w+)`", options) for kind, options in rows}
    assert documented == {
        kind: [("**" if is_needed(option) else "", option.name) for option in fields(found)]
        for kind, found in kinds().items()
    }
