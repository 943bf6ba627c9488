"""Thousands of rows as HTML. A template would take seconds for them."""

from collections.abc import Iterable
from functools import cache

from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from traces.steps import Status

from ..templatetags.godhand import icon
from .beside import Cell, Line

ROW = '<li><a class="cmp-line {}" href="?{}&amp;row={}" data-row="{}"{}>{}<span class="kin">{}</span>{}</a></li>\n'
CELL = (
    '<span class="cell" data-side="{}" data-number="{}" data-seq="{}"{}{}{}><span class="unseen">{}, step </span>'
    '<span class="num">{}</span>{}<span class="clip" data-sentence>{}</span>{}</span>'
)
NOTHING = mark_safe('<span class="cell nothing"></span>')
HERE = mark_safe(' aria-current="true"')
ENDS = {
    Status.FAILED: mark_safe('<span class="chip fail">failed</span>'),
    Status.UNCERTAIN: mark_safe('<span class="chip wait">uncertain</span>'),
    Status.REFUSED: mark_safe('<span class="chip wait">refused</span>'),
}

small_icon = cache(icon)


def rows_html(lines: Iterable[Line], query: str, here: int) -> SafeString:
    """`query` is what links to another row repeat, `here` the row to look at."""
    return mark_safe("".join(row_html(line, query, here) for line in lines))


def row_html(line: Line, query: str, here: int) -> SafeString:
    return format_html(
        ROW,
        line.kin or "fork",
        query,
        line.number,
        line.number,
        HERE if line.number == here else "",
        cell_html("A", line.a),
        line.word,
        cell_html("B", line.b) if line.kin else "",
    )


def cell_html(letter: str, cell: Cell | None) -> SafeString:
    if cell is None:
        return NOTHING
    return format_html(
        CELL,
        letter,
        cell.number,
        cell.step.seq,
        attribute("before", cell.before),
        attribute("after", cell.after),
        attribute("points", cell.points),
        letter,
        cell.number,
        small_icon(cell.step.icon),
        cell.step.sentence,
        ENDS.get(cell.step.status, ""),
    )


def attribute(name: str, value: str | None) -> SafeString | str:
    return format_html(' data-{}="{}"', name, value) if value else ""
