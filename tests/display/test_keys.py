import pytest

from sandboxes.display.keys import keysyms_of_chord, keysyms_of_text

CTRL, SHIFT, ALT, SUPER = 0xFFE3, 0xFFE1, 0xFFE9, 0xFFEB


@pytest.mark.parametrize(
    ("chord", "keysyms"),
    [
        ("Return", [0xFF0D]),
        ("enter", [0xFF0D]),
        ("a", [0x61]),
        ("A", [0x41]),
        ("ctrl+a", [CTRL, 0x61]),
        ("Control_L+a", [CTRL, 0x61]),
        ("alt+F4", [ALT, 0xFFC1]),
        ("ctrl+alt+Delete", [CTRL, ALT, 0xFFFF]),
        ("cmd+space", [SUPER, 0x20]),
        ("pgdn", [0xFF56]),
        ("Page_Up", [0xFF55]),
        ("+", [0x2B]),
        ("ctrl++", [CTRL, 0x2B]),
        ("ctrl+plus", [CTRL, 0x2B]),
        ("ctrl+shift+t", [CTRL, SHIFT, 0x54]),
        ("shift+1", [SHIFT, 0x21]),
        ("shift+Tab", [SHIFT, 0xFE20]),
        ("shift+Left", [SHIFT, 0xFF51]),
        ("é", [0xE9]),
        ("✓", [0x01002713]),
        ("F24", [0xFFD5]),
    ],
)
def test_it_knows_chords(chord: str, keysyms: list[int]) -> None:
    assert keysyms_of_chord(chord) == keysyms


@pytest.mark.parametrize("name", ["Bogus", "F25", "ctrl+Bogus"])
def test_it_names_the_key_it_does_not_know(name: str) -> None:
    with pytest.raises(ValueError, match=name.removeprefix("ctrl+")):
        keysyms_of_chord(name)


@pytest.mark.parametrize("chord", ["", "ctrl+", "+a", "a+++"])
def test_it_refuses_broken_chords(chord: str) -> None:
    with pytest.raises(ValueError, match="chord"):
        keysyms_of_chord(chord)


def test_it_types_lines_tabs_and_every_script() -> None:
    assert keysyms_of_text("a\r\nb\té€") == [0x61, 0xFF0D, 0x62, 0xFF09, 0xE9, 0x010020AC]


@pytest.mark.parametrize("character", ["\0", "\x7f", "\x85", "\ud800"])
def test_it_refuses_characters_without_a_key(character: str) -> None:
    with pytest.raises(ValueError, match=r"U\+"):
        keysyms_of_text(character)
