import re
from pathlib import Path

import pytest

from godhand_web.cli.commands import COMMANDS

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CODE = [
    path
    for folder in ("godhand_web", "sandboxes", "agents", "traces", "bench")
    for path in (ROOT / folder).rglob("*.py")
] + [ROOT / "godhand"]


def settings_read() -> set[str]:
    inside_the_machine = {"GODHAND_TOKEN"}
    return {
        name for path in CODE for name in re.findall(r"GODHAND_[A-Z_]+[A-Z]", path.read_text())
    } - inside_the_machine


def test_it_documents_every_setting_and_no_other() -> None:
    documented = set(re.findall(r"^\| `(GODHAND_[A-Z_]+)`", (ROOT / "docs/settings.md").read_text(), re.MULTILINE))
    assert documented == {name.removesuffix("_FILE") for name in settings_read()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_it_links_only_to_files_that_exist(page: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_it_names_only_commands_that_exist(page: Path) -> None:
    named = set(re.findall(r"\./godhand ([a-z]+)", page.read_text()))
    assert named <= set(COMMANDS)


def test_it_tells_about_every_page_of_the_documentation() -> None:
    readme = (ROOT / "README.md").read_text()
    assert [page.name for page in PAGES[1:] if f"docs/{page.name}" not in readme] == []
