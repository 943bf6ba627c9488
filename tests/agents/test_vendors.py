"""One task through each vendor's wire: a CSV becomes a workbook with a chart, is seen on the desktop, and delivered."""

from collections.abc import Sequence
from typing import Any

import pytest

from agents import runner
from agents.models import Branch, Document, State
from tests.providers.wire import WireServer
from tests.providers.wire.replies import (
    action,
    computer_call,
    function_call,
    message,
    reasoning,
    response,
    thinking,
    use,
)

from .conftest import MODEL, Submit
from .story import actions, told

pytestmark = pytest.mark.django_db(transaction=True)

SALES = b"month,amount\nJanuary,120\nFebruary,80\nMarch,200\n"
BUILD = """python3 - <<'END'
import csv
import xlsxwriter
rows = list(csv.reader(open("sales.csv")))
book = xlsxwriter.Workbook("sales.xlsx")
sheet = book.add_worksheet("Sales")
for line, (month, amount) in enumerate(rows):
    sheet.write_row(line, 0, [month, int(amount) if line else amount])
sheet.write_row(len(rows), 0, ["Total", sum(int(amount) for _, amount in rows[1:])])
chart = book.add_chart({"type": "column"})
chart.add_series({"values": ["Sales", 1, 1, len(rows) - 1, 1]})
sheet.insert_chart(1, 3, chart)
book.close()
END
pkill gnumeric; (gnumeric sales.xlsx >/dev/null 2>&1 &)
until wmctrl -l | grep -q sales.xlsx; do sleep 0.1; done"""
CHECKS = [
    {
        "name": "the numbers",
        "kind": "file_matches",
        "path": "sales.xlsx",
        "cells": {"Sales!A5": "Total", "Sales!B5": 400},
        "charts": 1,
    },
    {"name": "on the screen", "kind": "screen_text", "text": "February"},
]


def claude_says(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    blocks = [action(name[1:], **given) if name[0] == "*" else use(name, **given) for name, given in calls]
    return message(thinking("Let me see."), *blocks)


def gpt_says(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    """Actions on the desktop are one call; zoom is a function there."""
    acts = [GPT_WORDS[name](given) for name, given in calls if name in GPT_WORDS]
    functions = [function_call(name.lstrip("*"), **given) for name, given in calls if name not in GPT_WORDS]
    return response(reasoning("Let me see."), *([computer_call(*acts)] if acts else []), *functions)


GPT_WORDS: dict[str, Any] = {
    "*left_click": lambda given: {"type": "click", "button": "left", **_xy(given)},
    "*key": lambda given: {"type": "keypress", "keys": given["text"].upper().split("+")},
    "*screenshot": lambda _: {"type": "screenshot"},
}


def _xy(given: dict[str, Any]) -> dict[str, int]:
    return dict(zip(("x", "y"), given["coordinate"], strict=True))


PLAN: Sequence[Sequence[tuple[str, dict[str, Any]]]] = [
    [("bash", {"command": BUILD, "timeout": 60})],
    [("*left_click", {"coordinate": [700, 500]}), ("*key", {"text": "ctrl+Home"}), ("*screenshot", {})],
    [("*zoom", {"region": [0, 0, 640, 400]})],
    [("deliver", {"path": "sales.xlsx", "title": "Sales"})],
    [("done", {"summary": "The workbook has the total and a chart.", "evidence": "It is open."})],
]
VENDORS = {"anthropic": claude_says, "openai": gpt_says}


@pytest.mark.parametrize("vendor", VENDORS)
def test_it_does_the_task_through(vendor: str, submit: Submit, wire: WireServer) -> None:
    url = wire.anthropic_url if vendor == "anthropic" else wire.openai_url
    options = {"base_url": url, **({"model": MODEL} if vendor == "anthropic" else {})}
    branch = submit(
        "Make a workbook with a chart.",
        provider=vendor,
        options=options,
        attachments={"sales.csv": SALES},
        checks=CHECKS,
    )
    wire.will(*(VENDORS[vendor](*calls) for calls in PLAN))
    runner.drive(branch.pk)
    branch.refresh_from_db()
    assert told(branch, "done") == ["The task is finished."], branch.detail
    assert branch.state == State.SUCCEEDED
    assert wire.refusals == []
    assert [name for name, _ in actions(branch)] == [name.lstrip("*") for calls in PLAN for name, _ in calls]
    assert all(fate == "done" for _, fate in actions(branch))
    assert Document.objects.get(branch=branch).name == "sales.xlsx"
    assert "The part 640×400" in told(branch, "zoom")[0]


def test_it_catches_a_wrong_total(submit_to_claude: Submit, wire: WireServer) -> None:
    branch: Branch = submit_to_claude("Make a workbook.", attachments={"sales.csv": SALES}, checks=CHECKS)
    wrong = BUILD.replace("sum(int(amount)", "7 + sum(int(amount)")
    plan = [[("bash", {"command": wrong, "timeout": 60})], PLAN[-1], PLAN[0], PLAN[-1]]
    wire.will(*(claude_says(*calls) for calls in plan))
    runner.drive(branch.pk)
    branch.refresh_from_db()
    assert branch.state == State.SUCCEEDED, branch.detail
    assert "400" in told(branch, "done")[0]
    assert "407" in told(branch, "done")[0]
