"""Text and key names to X keysyms."""

import string


def _run(first: int, names: str) -> dict[str, int]:
    return {name: first + place for place, name in enumerate(names.split())}


NAMES: dict[str, int] = {
    "BackSpace": 0xFF08,
    "Tab": 0xFF09,
    "Return": 0xFF0D,
    "Pause": 0xFF13,
    "Scroll_Lock": 0xFF14,
    "Escape": 0xFF1B,
    "Multi_key": 0xFF20,
    "Home": 0xFF50,
    "Left": 0xFF51,
    "Up": 0xFF52,
    "Right": 0xFF53,
    "Down": 0xFF54,
    "Page_Up": 0xFF55,
    "Page_Down": 0xFF56,
    "End": 0xFF57,
    "Print": 0xFF61,
    "Insert": 0xFF63,
    "Menu": 0xFF67,
    "Num_Lock": 0xFF7F,
    "KP_Enter": 0xFF8D,
    "KP_Multiply": 0xFFAA,
    "KP_Add": 0xFFAB,
    "KP_Subtract": 0xFFAD,
    "KP_Decimal": 0xFFAE,
    "KP_Divide": 0xFFAF,
    "Shift_L": 0xFFE1,
    "Shift_R": 0xFFE2,
    "Control_L": 0xFFE3,
    "Control_R": 0xFFE4,
    "Caps_Lock": 0xFFE5,
    "Meta_L": 0xFFE7,
    "Meta_R": 0xFFE8,
    "Alt_L": 0xFFE9,
    "Alt_R": 0xFFEA,
    "Super_L": 0xFFEB,
    "Super_R": 0xFFEC,
    "ISO_Level3_Shift": 0xFE03,
    "ISO_Left_Tab": 0xFE20,
    "Delete": 0xFFFF,
    "XF86AudioLowerVolume": 0x1008FF11,
    "XF86AudioMute": 0x1008FF12,
    "XF86AudioRaiseVolume": 0x1008FF13,
    "XF86Back": 0x1008FF26,
    "XF86Forward": 0x1008FF27,
    **{f"F{n}": 0xFFBD + n for n in range(1, 25)},
    **{f"KP_{n}": 0xFFB0 + n for n in range(10)},
    **_run(0x20, "space exclam quotedbl numbersign dollar percent ampersand apostrophe"),
    **_run(0x28, "parenleft parenright asterisk plus comma minus period slash"),
    **_run(0x3A, "colon semicolon less equal greater question at"),
    **_run(0x5B, "bracketleft backslash bracketright asciicircum underscore grave"),
    **_run(0x7B, "braceleft bar braceright asciitilde"),
}

ALIASES: dict[str, str] = {
    "enter": "Return",
    "esc": "Escape",
    "backspace": "BackSpace",
    "del": "Delete",
    "ins": "Insert",
    "pgup": "Page_Up",
    "pageup": "Page_Up",
    "prior": "Page_Up",
    "pgdn": "Page_Down",
    "pgdown": "Page_Down",
    "pagedown": "Page_Down",
    "next": "Page_Down",
    "arrowleft": "Left",
    "arrowright": "Right",
    "arrowup": "Up",
    "arrowdown": "Down",
    "spacebar": "space",
    "capslock": "Caps_Lock",
    "numlock": "Num_Lock",
    "printscreen": "Print",
    "prtsc": "Print",
    "ctrl": "Control_L",
    "control": "Control_L",
    "alt": "Alt_L",
    "option": "Alt_L",
    "altgr": "ISO_Level3_Shift",
    "shift": "Shift_L",
    "meta": "Super_L",
    "super": "Super_L",
    "win": "Super_L",
    "windows": "Super_L",
    "cmd": "Super_L",
    "command": "Super_L",
}

_BY_LOWER_NAME = {name.lower(): keysym for name, keysym in NAMES.items()} | {
    alias: NAMES[name] for alias, name in ALIASES.items()
}
_SHIFTS = {NAMES["Shift_L"], NAMES["Shift_R"]}
MODIFIERS = {*range(NAMES["Shift_L"], NAMES["Super_R"] + 1), NAMES["ISO_Level3_Shift"]}
_SHIFTED = dict(
    zip(
        map(ord, string.ascii_lowercase + "`1234567890-=[]\\;',./"),
        map(ord, string.ascii_uppercase + '~!@#$%^&*()_+{}|:"<>?'),
        strict=True,
    )
) | {NAMES["Tab"]: NAMES["ISO_Left_Tab"]}
_CONTROLS = {"\n": NAMES["Return"], "\t": NAMES["Tab"], "\b": NAMES["BackSpace"], "\x1b": NAMES["Escape"]}


def keysym_of_character(character: str) -> int:
    """Raises ValueError for control characters that no key stands for."""
    if character in _CONTROLS:
        return _CONTROLS[character]
    code = ord(character)
    if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000:
        raise ValueError(f"No key types the character U+{code:04X}.")
    return code if code < 0x100 else 0x01000000 + code


def keysyms_of_text(text: str) -> list[int]:
    return [keysym_of_character(character) for character in text.replace("\r\n", "\n").replace("\r", "\n")]


def on_us_keyboard(keysym: int) -> bool:
    return keysym < 0x7F or 0xFF00 <= keysym <= 0xFFFF


def keysym_of_name(name: str) -> int:
    if len(name) == 1:
        return keysym_of_character(name)
    try:
        return _BY_LOWER_NAME[name.lower()]
    except KeyError:
        raise ValueError(f"There is no key called “{name}”.") from None


def keysyms_of_chord(chord: str) -> list[int]:
    """The keys of `ctrl+shift+t` in the order in which they go down.

    With Shift among them, a key becomes what it gives on a US keyboard with Shift held: a VNC server lifts
    Shift again for a symbol that is typed without it.
    """
    body, plus = (chord[:-2], ["+"]) if chord.endswith("++") else (chord, [])
    names = [body] if body == "+" else body.split("+")
    if not all(names):
        raise ValueError(f"“{chord}” is not a key or a chord such as ctrl+shift+t.")
    keysyms = [keysym_of_name(name) for name in names + plus]
    if _SHIFTS & set(keysyms):
        return [_SHIFTED.get(keysym, keysym) for keysym in keysyms]
    return keysyms
