"""`file_matches` in a machine."""

from collections.abc import Iterator

import pytest

from agents.checkers.base import CannotCheck, Finding, Outcome
from agents.checkers.compare import Comparison
from agents.checkers.scene import MachineScene
from sandboxes.backends.gvisor import GvisorSandbox

from .conftest import run
from .scenes import checker, passed

WORKBOOK = """
import sys, datetime, openpyxl
from openpyxl.chart import BarChart, Reference
book = openpyxl.Workbook()
sheet = book.active
sheet.title = "Sales 2026"
for row in (["Month", "Amount", "Due"], ["May", 1200.5, datetime.date(2026, 5, 31)], ["June", 800, None]):
    sheet.append(row)
sheet["A4"], sheet["B4"] = "Total", "=SUM(B2:B3)"
sheet["D1"], sheet["E1"] = "12", True
chart = BarChart()
chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3))
sheet.add_chart(chart, "F5")
book.create_sheet("Notes")["A1"] = "hello"
book.save(sys.argv[1])
"""
DOCUMENT = """
import sys, docx
document = docx.Document()
document.add_heading("Report", 0)
document.add_heading("Results", 1)
document.add_paragraph("All in all it was  a good year.")
document.add_heading("Outlook", 1)
table = document.add_table(2, 2)
for cell, text in zip(table._cells, ["Name", "Count", "apples", "7"]):
    cell.text = text
document.save(sys.argv[1])
"""
CSV = '\ufeffName,Amount\r\nMüller,12.50\r\n"Smith, J",3\r\n'
JSON = '{"total": 3.0000001, "items": [{"name": "a", "tags": ["x", "y"]}, {"name": null}], "ok": true}'

Look = dict[str, object]


@pytest.fixture(scope="module")
def documents(machine: GvisorSandbox) -> Iterator[str]:
    folder = "/tmp/documents"
    machine.exec(["mkdir", folder])
    run(machine, WORKBOOK, f"{folder}/sales.xlsx")
    run(machine, DOCUMENT, f"{folder}/report.docx")
    machine.write_file(f"{folder}/names.csv", CSV.encode())
    machine.write_file(f"{folder}/data.json", JSON.encode())
    yield folder
    machine.exec(["rm", "-r", folder])


def look(scene: MachineScene, documents: str, name: str, **options: object) -> Finding:
    return checker("file_matches", path=f"{documents}/{name}", **options).check(scene)


def test_it_reads_a_workbook(scene: MachineScene, documents: str) -> None:
    finding = look(
        scene, documents, "sales.xlsx",
        cells={"B2": 1200.5, "Sales 2026!A4": "Total", "'Notes'!A1": "hello", "C2": "2026-05-31", "C3": "", "E1": True},
        sheets=["Notes", "Sales 2026"], charts=1, headers=["Month", "Amount", "Due", "12", True],
        rows=[["June", 800]], row_count=3,
    )  # fmt: skip
    assert passed(finding), finding


def test_it_calculates_formulas_that_nobody_has(scene: MachineScene, documents: str) -> None:
    options: Look = {"cells": {"B4": 2000.5}, "columns": {"Amount": [1200.5, 800, 2000.5]}}
    assert passed(look(scene, documents, "sales.xlsx", **options))
    assert passed(look(scene, documents, "sales.xlsx", cells={"B4": "=SUM(B2:B3)"}))


def test_it_catches_a_wrong_number(scene: MachineScene, documents: str) -> None:
    finding = look(scene, documents, "sales.xlsx", cells={"B2": 1200.5, "B3": 900, "B4": 2100.5})
    assert not passed(finding)
    assert "B3: 900" in finding.expected
    assert "B4: 2100.5" in finding.expected
    assert "B3: 800" in finding.actual
    assert 'B4: 2000.5 (the formula "=SUM(B2:B3)")' in finding.actual
    assert "B2" not in finding.expected


@pytest.mark.parametrize(
    ("options", "actual"),
    [
        ({"cells": {"D1": 12}}, 'D1: "12"'),
        ({"cells": {"Missing!A1": 1}}, "Missing!A1: no such sheet"),
        ({"cells": {"Z99": 1}}, "Z99: empty"),
        ({"cells": {"E1": 1}}, "E1: true"),
        ({"sheets": ["Summary"]}, 'sheet: ["Sales 2026", "Notes"]'),
        ({"sheet": "Summary"}, 'sheet: ["Sales 2026", "Notes"]'),
        ({"charts": 2}, "charts: 1"),
        ({"headers": ["Month"]}, 'headers: ["Month", "Amount", "Due"'),
        ({"rows": [["June", 900]]}, 'row: nearest ["June", 800]'),
        ({"row_count": 2}, "rows below the headers: 3"),
        ({"columns": {"Sum": [1]}}, "column “Sum”: no such column"),
        ({"sheet": "Notes", "columns": {"hello": [1]}}, "column “hello”: []"),
    ],
)
def test_it_says_what_a_workbook_has_instead(scene: MachineScene, documents: str, options: Look, actual: str) -> None:
    finding = look(scene, documents, "sales.xlsx", **options)
    assert not passed(finding)
    assert actual in finding.actual


def test_it_allows_numbers_to_be_a_little_off(scene: MachineScene, documents: str) -> None:
    assert passed(look(scene, documents, "sales.xlsx", cells={"B2": 1200}, tolerance=0.5))
    assert not passed(look(scene, documents, "sales.xlsx", cells={"B2": 1200}, tolerance=0.4))


def test_it_reads_a_document(scene: MachineScene, documents: str) -> None:
    good: Look = {
        "headings": ["Report", "Outlook"],
        "paragraphs": ["it was a good"],
        "tables": 1,
        "rows": [["apples", 7]],
    }
    assert passed(look(scene, documents, "report.docx", **good))


@pytest.mark.parametrize(
    ("options", "actual"),
    [
        ({"headings": ["Outlook", "Results"]}, "headings: nothing"),
        ({"headings": ["Res"]}, 'headings: ["Report", "Results", "Outlook"]'),
        ({"paragraphs": ["a bad year"]}, "a good year"),
        ({"tables": 2}, "tables: 1"),
        ({"rows": [["apples", 8]]}, 'nearest ["apples", "7"]'),
    ],
)
def test_it_says_what_a_document_has_instead(scene: MachineScene, documents: str, options: Look, actual: str) -> None:
    finding = look(scene, documents, "report.docx", **options)
    assert not passed(finding)
    assert actual in finding.actual


def test_it_reads_a_table_of_text(scene: MachineScene, documents: str) -> None:
    good: Look = {
        "headers": ["Name", "Amount"],
        "rows": [["Smith, J", 3]],
        "columns": {"Amount": [12.5, 3]},
        "row_count": 2,
    }
    assert passed(look(scene, documents, "names.csv", **good))
    finding = look(scene, documents, "names.csv", columns={"Amount": [12.5, 4]})
    assert not passed(finding)
    assert finding.actual.endswith('column “Amount”: ["12.50", "3"].')
    assert not passed(look(scene, documents, "names.csv", headers=["Name", "Amount"], delimiter=";"))


def test_it_reads_json_by_paths(scene: MachineScene, documents: str) -> None:
    good = {"total": 3, "items[0].name": "a", "items.0.tags": ["x", "y"], "items[1]": {"name": ""}, "ok": True}
    assert passed(look(scene, documents, "data.json", values=good))
    finding = look(scene, documents, "data.json", values={"items[2].name": "c", "ok": 1})
    assert not passed(finding)
    assert finding.actual.endswith("items[2].name: nothing; ok: true.")


def test_it_tells_a_file_of_another_format(scene: MachineScene, documents: str) -> None:
    finding = look(scene, documents, "names.csv", format="xlsx", cells={"A1": 1})
    assert not passed(finding)
    assert "no proper xlsx file (BadZipFile" in finding.actual
    assert "no proper json file" in look(scene, documents, "names.csv", format="json").actual
    assert "No such file" in look(scene, documents, "none.xlsx").actual


def test_it_cannot_say_that_a_row_is_missing_from_a_table_it_has_not_read(
    scene: MachineScene, machine: GvisorSandbox, folder: str
) -> None:
    machine.write_file(f"{folder}/long.csv", b"n\n" + b"".join(b"%d\n" % number for number in range(20_000)))
    assert passed(look(scene, folder, "long.csv", rows=[[9_000]]))
    finding = look(scene, folder, "long.csv", rows=[[19_000]])
    assert finding.outcome is Outcome.ERRORED
    assert "longer than" in finding.detail


@pytest.mark.parametrize("summary", [{}, {"cells": 3, "formulas": {}}, {"cells": []}])
def test_it_takes_no_nonsense_from_a_machine(summary: dict[str, object]) -> None:
    with pytest.raises(CannotCheck, match="did not tell"):
        list(Comparison(summary, 0, loose=False).cells({"A1": 1}))
