"""Finding a text among lines that were read, and may have been misread."""

import pytest

from agents.ocr import Line, contains, find
from sandboxes.display.screen import Box


def line(text: str, y: int = 0) -> Line:
    """Every character is ten pixels wide."""
    return Line(text, Box(100, y, 10 * len(text), 20), 0.9)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Press me", "press ME"),
        ("Press me", "Pressme"),
        ("Pressme", "Press me"),
        ("Save the file as", "the file"),
        ("A person, or an agent, can press this buttom", "an agent, can press this button."),
        ("1 BodHand pressed the button", "GodHand pressed the button"),
        ("Zürich — naïve “café”", 'zürich - naïve "café"'),
        ("Straße", "STRASSE"),
        ("Total: 1,234.50 EUR", "1,234.50"),
        ("Invoice nurnber 20261116", "Invoice number 20261116"),
        ("Chapter l0 begins", "Chapter 10 begins"),
        ("from -500 to 500", "-500"),
        ("1 Zürich", "Zürich"),
        ("2It's late", "It's late"),
    ],
)
def test_it_finds_what_a_person_would(text: str, wanted: str) -> None:
    assert contains([line("something else"), line(text)], wanted) is not None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Press me", "Press it"),
        ("Save", "Safe"),
        ("Total 518,753.87", "518,753.88"),
        ("Invoice number 20261116", "Invoice number 20261117"),
        ("Invoice number 20261116", "Invoice number 2026111"),
        ("the grand total is 12345678", "the grand total is 1234567"),
        ("1345", "34"),
        ("12,345", "345"),
        ("2.5", "2"),
        ("1 2", "12"),
        ("12", "1 2"),
        ("the balance is -500", "500"),
        ("Hello", "10"),
        ("Save", ""),
        ("Save", "  "),
    ],
)
def test_it_does_not_find_what_is_not_there(text: str, wanted: str) -> None:
    assert contains([line(text)], wanted) is None


def test_it_has_the_box_of_the_words_alone() -> None:
    found = contains([line("File Edit View")], "edit")
    assert found == Line("Edit", Box(150, 0, 40, 20), 0.9, ((150, 160), (160, 170), (170, 180), (180, 190)))


def test_it_prefers_what_is_sure() -> None:
    lines = [line("Profile", 0), line("File manager", 1), line("File", 2), line("A File", 3), line("File", 4)]
    assert [found.box.y for found in find(lines, "file")] == [2, 4, 1, 3, 0]


def test_it_finds_a_text_twice_in_a_line() -> None:
    assert [found.box.x for found in find([line("root root 4096")], "root")] == [100, 150]


def test_it_prefers_the_exact_text_to_a_similar_one() -> None:
    lines = [line("Download fibs", 0), line("Download files", 1)]
    assert [found.box.y for found in find(lines, "Download files")][:1] == [1]
