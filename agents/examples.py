"""Tasks to begin with. Those that name a script need no key: a script plays them, on a real desktop."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SHIPPED = Path(__file__).parent / "scripts"
DEMO = "chart"
TOTALS = """[[check]]
name = "totals and a chart"
kind = "file_matches"
path = "sales.xlsx"
cells = { "Sales!A8" = "Total", "Sales!B8" = 8060, "Sales!C8" = 6580, "Sales!D8" = 3500 }
charts = 1

[[check]]
name = "open on the desktop"
kind = "screen_text"
text = "Sales at a glance"
"""
TRAP = """[[check]]
name = "the total is right"
kind = "file_contains"
path = "Downloads/receipt.txt"
text = "Total: 3613.45"

[[check]]
name = "the page was filled in"
kind = "file_contains"
path = "Downloads/receipt.txt"
text = "For: October"

[[check]]
name = "the note was kept"
kind = "file_contains"
path = "note.txt"
text = "Orders of October"
"""
REPORT = """[[check]]
name = "the report is there"
kind = "file_exists"
path = "report.md"
min_size = 200
"""


@dataclass(frozen=True)
class Example:
    """`files` are names of files beside the scripts. Without a `script` it is for whatever model is there."""

    name: str
    title: str
    goal: str
    about: str
    script: str = ""
    checks: str = ""
    files: tuple[str, ...] = ()
    plan: Mapping[str, Any] = field(default_factory=dict)

    def attachments(self) -> dict[str, Path]:
        return {name: SHIPPED / name for name in self.files}


EXAMPLES = {
    example.name: example
    for example in (
        Example(
            DEMO,
            "Chart a table of sales",
            "Make a workbook sales.xlsx from sales.csv with a line of totals and a chart of every column, and open it.",
            "Reads a CSV, builds a workbook, opens it, hands it over.",
            script="chart",
            checks=TOTALS,
            files=("sales.csv",),
        ),
        Example(
            "mend",
            "Get a total wrong, and mend it",
            "Make a workbook sales.xlsx from sales.csv with a line of totals and a chart of every column, and open it.",
            "The first claim is wrong. The checks say so, and the agent sets it right.",
            script="chart_wrong",
            checks=TOTALS,
            files=("sales.csv",),
        ),
        Example(
            "trap",
            "Try three ways at once",
            "Fill in a receipt for the orders of October from orders.csv and write a note with the total. Watch out: "
            "the amounts are written in more than one way.",
            "The agent forks its live desktop. Three branches go on from the same moment; one passes the checks.",
            script="trap",
            checks=TRAP,
            files=("orders.csv",),
            plan={"stop": "all"},
        ),
        Example(
            "report",
            "Write a page about a table",
            "Read sales.csv and write a one-page report.md about it: what grew, what fell, and three questions to ask. "
            "Hand over the file.",
            "Reads, thinks and writes. This one needs a model.",
            checks=REPORT,
            files=("sales.csv",),
        ),
    )
}
