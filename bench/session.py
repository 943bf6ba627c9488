"""A day's work on a real desktop in some hundred steps: a script for an agent that costs no time.

A spreadsheet is filled, commands run in a terminal, a letter is written, a page is read and folders are looked at.
Between the actions on the desktop are commands and looks at files that change nothing on the screen, as agents do.
"""

import json
from collections.abc import Iterator
from typing import Any

Call = dict[str, Any]

REGIONS = ("North", "South", "East", "West")
PRODUCTS = ("Lamp", "Desk", "Chair", "Shelf", "Sofa", "Table", "Stool", "Bench")
COMMANDS = ("ls -l /usr/share", "df -h", "cat /etc/os-release", "ps aux | head", "git --version", "wc -l /etc/services")
LETTER = (
    "Dear Ms Harper,\n\n",
    "thank you for your order of the third of May. ",
    "The lamps left our store this morning, and the chairs will follow on Monday. ",
    "Please find the invoice in the attachment; it is due within thirty days.\n\n",
    "If anything should be missing, call us, and we will send it at once. ",
    "We look forward to your next visit.\n\n",
    "Kind regards\nThe shop\n",
)
PAGE = """<!doctype html><title>Prices</title><style>body{font:17px sans-serif;margin:40px}td{padding:6px 22px}</style>
<h1>Prices of this season</h1><p>All prices are net, and hold until the end of June.</p><table border=1>%s</table>"""


def script() -> str:
    """As the scripted provider takes it."""
    turns = [*_sheet(), *_terminal(), *_letter(), *_page(), *_folders(), [{"done": "All of it is done."}]]
    return "\n".join(f"[[step]]\ndo = [{', '.join(_toml(call) for call in turn)}]\n" for turn in turns)


def _sheet() -> Iterator[list[Call]]:
    yield [{"bash": "(gnumeric >/dev/null 2>&1 &) ; sleep 8; wmctrl -r Gnumeric -b add,maximized_vert,maximized_horz"}]
    yield [{"screenshot": {}}]
    yield [{"left_click": [120, 250]}]
    for number in range(24):
        region, product = REGIONS[number % 4], PRODUCTS[number % 8]
        yield [{"type": f"{product}\t{region}\t{37 * number % 991}.50\t{53 * number % 773}\n"}]
        if number % 3 == 2:
            yield [{"bash": f"echo {product} {region} >>~/seen.txt; wc -l ~/seen.txt"}]
        if number % 8 == 7:
            yield [{"key": "ctrl+Home"}]
            yield [{"left_click": [120, 250 + 20 * number]}]
    yield [{"zoom": [0, 0, 640, 400]}]


def _terminal() -> Iterator[list[Call]]:
    yield [{"bash": "(lxterminal >/dev/null 2>&1 &) ; sleep 4"}]
    for number, command in enumerate(COMMANDS * 2):
        yield [{"type": command}]
        yield [{"key": "Return"}]
        if number % 3 == 0:
            yield [{"files": {"verb": "view", "path": "/etc/hostname"}}]


def _letter() -> Iterator[list[Call]]:
    yield [{"bash": "(mousepad >/dev/null 2>&1 &) ; sleep 4"}]
    for sentence in LETTER * 2:
        yield [{"type": sentence}]
    yield [{"key": "ctrl+a"}]
    yield [{"screenshot": {}}]
    yield [{"key": "ctrl+Home"}]


def _page() -> Iterator[list[Call]]:
    rows = "".join(f"<tr><td>{PRODUCTS[n % 8]} {n}<td>{REGIONS[n % 4]}<td>{7 * n + 19}.90" for n in range(400))
    yield [{"files": {"verb": "create", "path": "prices.html", "content": PAGE % rows}}]
    yield [{"bash": "(chromium --no-first-run ~/prices.html >/dev/null 2>&1 &) ; sleep 12"}]
    for number in range(12):
        yield [{"scroll": {"scroll_direction": "down", "scroll_amount": 4, "coordinate": [640, 500]}}]
        if number % 3 == 0:
            yield [{"bash": f"grep -c {PRODUCTS[number % 8]} prices.html"}]


def _folders() -> Iterator[list[Call]]:
    yield [{"bash": "(pcmanfm /usr/share >/dev/null 2>&1 &) ; sleep 4"}]
    for number in range(6):
        yield [{"left_click": [420 + 90 * (number % 3), 260 + 90 * (number // 3)]}]
        yield [{"wait": 0.2}]
    yield [{"key": "alt+Tab"}]


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(item)}' for key, item in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)
