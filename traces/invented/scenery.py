"""A desktop that never was: somebody fills a sheet and uses a terminal, and every screen differs a little."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from random import Random
from typing import Any

from PIL import Image, ImageDraw, ImageFont

SIZE = (1280, 800)
SHEET = (24, 48, 800, 728)
TERMINAL = (600, 420, 656, 356)
ROW, COLUMN, TOP, LEFT = 24, 92, 124, 64
ROWS, COLUMNS, FILLED, LINES = 26, 8, 5, 17

INK, PAPER, RULE, MARK, BAR, DARK = "#1f2430", "#fdfdfc", "#d9dce3", "#1a73b8", "#e9ebf0", "#14181f"
PRODUCTS = ("Lamp", "Desk", "Chair", "Shelf", "Sofa", "Table", "Stool", "Bench", "Mirror", "Carpet")
REGIONS = ("North", "South", "East", "West", "Coast", "Hills")
COMMANDS = ("ls -l invoices", "wc -l sales.csv", "head -3 sales.csv", "python3 totals.py", "git status", "df -h")

Box = tuple[int, int, int, int]
Spot = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class Scene:
    """A call on the desktop, what it does in pixels, why, and the screen after it. `box` is what changed, if any."""

    name: str
    given: dict[str, Any]
    act: dict[str, Any]
    thought: str
    box: Box | None
    image: Image.Image | None = field(default=None, repr=False)
    spots: Sequence[Spot] = field(default=(), repr=False)


def scenes(seed: int) -> Iterator[Scene]:
    """Endless, and always the same for a seed."""
    desk = Desk(Random(seed))
    while True:
        yield from desk.fill_cell()
        if desk.random.random() < 0.2:
            yield from desk.run_command()
        if desk.random.random() < 0.1:
            yield from desk.save()
        if not desk.has_room():
            yield desk.scroll()


class Desk:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.first, self.filled, self.chosen = 1, 0, (1, 0)
        self.cells: dict[tuple[int, int], str] = {}
        self.lines = ["agent@desk:~$ "]
        self.image = Image.new("RGB", SIZE, "#28405c")
        self.pen = ImageDraw.Draw(self.image)
        self._furnish()

    def fill_cell(self) -> Iterator[Scene]:
        row, column = 1 + self.filled // FILLED, self.filled % FILLED
        value, old = self._value(column), self._cell_box(*self.chosen)
        self.filled, self.chosen = self.filled + 1, (row, column)
        x, y, width, height = self._cell_box(row, column)
        self._draw_sheet()
        box = around(old, (x, y, width, height))
        yield self._click(x + width // 2, y + height // 2, f"Cell {self._name(row, column)} is still empty.", box)
        self.cells[row, column] = value
        self._draw_sheet()
        yield self._typed(f"{value}\n", f"The invoice says {value}.", (x, y, width, height))

    def has_room(self) -> bool:
        return 1 + self.filled // FILLED < self.first + ROWS

    def run_command(self) -> Iterator[Scene]:
        x, y, width, height = TERMINAL
        command = self.random.choice(COMMANDS)
        yield self._click(
            x + width // 2, y + height // 2, "The terminal tells whether the file is right.", (x, y, 1, 1)
        )
        self.lines[-1] += command
        self._draw_terminal()
        yield self._typed(command, f"I run {command}.", TERMINAL)
        figures = self.random.sample(range(10, 9999), 4)
        self.lines += [f"{number:>8}  {self.random.choice(PRODUCTS).lower()}-{number}.csv" for number in figures]
        self.lines = [*self.lines, "agent@desk:~$ "][-LINES:]
        self._draw_terminal()
        yield self._key("Return", "Now its output.", TERMINAL)

    def save(self) -> Iterator[Scene]:
        x, y = SHEET[0] + 8, SHEET[1] + 58
        menu = (x, y, 190, 130)
        self.pen.rectangle(_corners(menu), fill=PAPER, outline=RULE)
        for place, word in enumerate(("New", "Open…", "Save", "Save As…", "Print…")):
            self._write(x + 12, y + 8 + place * 24, word)
        yield self._click(x + 14, SHEET[1] + 44, "The File menu has Save.", menu)
        self._draw_sheet()
        yield self._click(x + 30, y + 66, "Save keeps the name.", menu)

    def scroll(self) -> Scene:
        self.first += self.random.choice((5, 10, 15))
        self._draw_sheet()
        x, y = SHEET[0] + 400, SHEET[1] + 300
        act = {"action": "Scroll", "x": x, "y": y, "down": 5, "right": 0, "holding": ""}
        given = {"coordinate": [x, y], "scroll_direction": "down", "scroll_amount": 5}
        return self._scene("scroll", given, act, "The rest is further down.", SHEET)

    def _click(self, x: int, y: int, thought: str, box: Box | None) -> Scene:
        act = {"action": "Click", "x": x, "y": y, "button": 1, "count": 1, "holding": ""}
        return self._scene("left_click", {"coordinate": [x, y]}, act, thought, box)

    def _typed(self, text: str, thought: str, box: Box | None) -> Scene:
        return self._scene("type", {"text": text}, {"action": "Type", "text": text}, thought, box)

    def _key(self, chord: str, thought: str, box: Box | None) -> Scene:
        return self._scene("key", {"text": chord}, {"action": "Key", "chord": chord, "repeat": 1}, thought, box)

    def _scene(self, name: str, given: dict[str, Any], act: dict[str, Any], thought: str, box: Box | None) -> Scene:
        return Scene(name, given, act, thought, box, self.image.copy(), self._spots())

    def _spots(self) -> list[Spot]:
        shown = [(text, *self._cell_box(*place)) for place, text in self.cells.items() if self._visible(place[0])]
        x, y, width, _ = TERMINAL
        lines = [(line, x + 8, y + 30 + 18 * place, width, 18) for place, line in enumerate(self.lines) if line.strip()]
        return [("sales.ods - Sheet", SHEET[0] + 12, SHEET[1] + 6, 140, 18), *shown, *lines]

    def _value(self, column: int) -> str:
        if column == 0:
            return self.random.choice(PRODUCTS)
        return self.random.choice(REGIONS) if column == 1 else f"{self.random.randrange(10, 99_999) / 100:,.2f}"

    def _visible(self, row: int) -> bool:
        return self.first <= row < self.first + ROWS

    def _name(self, row: int, column: int) -> str:
        return f"{'ABCDEFGH'[column]}{row}"

    def _cell_box(self, row: int, column: int) -> Box:
        return SHEET[0] + LEFT + column * COLUMN, TOP + 24 + (row - self.first) * ROW, COLUMN, ROW

    def _furnish(self) -> None:
        for band in range(0, SIZE[1], 2):
            shade = 40 + band * 40 // SIZE[1]
            self.pen.rectangle((0, band, SIZE[0], band + 1), fill=(shade // 2, shade, shade + 30))
        self.pen.rectangle((0, 0, SIZE[0], 27), fill=DARK)
        self._write(14, 6, "Applications", "white")
        self._write(1180, 6, "Mon 09:41", "white")
        self._draw_sheet()

    def _draw_sheet(self) -> None:
        x, y, width, _ = SHEET
        self.pen.rectangle(_corners(SHEET), fill=PAPER, outline=RULE)
        self.pen.rectangle((x, y, x + width - 1, y + 30), fill=BAR)
        self._write(x + 12, y + 7, "sales.ods - Sheet")
        for place, word in enumerate(("File", "Edit", "View", "Insert", "Format", "Data", "Help")):
            self._write(x + 12 + place * 60, y + 38, word)
        for column in range(COLUMNS):
            self._write(x + LEFT + column * COLUMN + 40, TOP + 4, "ABCDEFGH"[column], "#6b7280")
        for row in range(self.first, self.first + ROWS):
            self._write(x + 20, self._cell_box(row, 0)[1] + 4, str(row), "#6b7280")
            for column in range(COLUMNS):
                self.pen.rectangle(_corners(self._cell_box(row, column)), outline=RULE)
        for cell, text in self.cells.items():
            if self._visible(cell[0]):
                left, top, _, _ = self._cell_box(*cell)
                self._write(left + 6, top + 4, text)
        if self._visible(self.chosen[0]):
            self.pen.rectangle(_corners(self._cell_box(*self.chosen)), outline=MARK, width=2)
        self._draw_terminal()

    def _draw_terminal(self) -> None:
        x, y, width, _ = TERMINAL
        self.pen.rectangle(_corners(TERMINAL), fill=DARK, outline="#3a404c")
        self.pen.rectangle((x, y, x + width - 1, y + 24), fill="#2b313c")
        self._write(x + 12, y + 5, "Terminal", "white")
        for place, line in enumerate(self.lines):
            self._write(x + 8, y + 32 + 18 * place, line, "#c9e4ca")

    def _write(self, x: int, y: int, text: str, colour: str = INK) -> None:
        self.pen.text((x, y), text, fill=colour, font=_font())


@cache
def _font() -> Any:
    return ImageFont.load_default(13)


def _corners(box: Box) -> Box:
    x, y, width, height = box
    return x, y, x + width - 1, y + height - 1


def around(one: Box, other: Box) -> Box:
    x, y = min(one[0], other[0]), max(0, min(one[1], other[1]))
    right = max(one[0] + one[2], other[0] + other[2])
    bottom = max(one[1] + one[3], other[1] + other[3])
    return x, y, right - x, bottom - y
