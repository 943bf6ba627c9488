"""Files made to hurt whoever opens them. No check passes, hangs or breaks."""

from collections.abc import Iterator
from typing import Any

import pytest

from agents.checkers.base import Finding, Outcome
from agents.checkers.scene import MachineScene
from sandboxes.backends.gvisor import GvisorSandbox

from .conftest import run
from .scenes import checker

FILES = """
import os, sys, zipfile
os.chdir(sys.argv[1])
import openpyxl
book = openpyxl.Workbook()
book.active["A1"] = 1
book.save("good.xlsx")
good = open("good.xlsx", "rb").read()
open("cut.xlsx", "wb").write(good[: len(good) // 2])
open("damaged.xlsx", "wb").write(good[:200] + bytes(100) + good[300:])
open("empty.xlsx", "wb").close()

def changed(name, part, content):
    with zipfile.ZipFile("good.xlsx") as old, zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            new.writestr(info.filename, content if info.filename == part else old.read(info))

sheet = "xl/worksheets/sheet1.xml"
changed("bomb.xlsx", sheet, b"<worksheet>" + b" " * (300 << 20))
changed("nested.xlsx", sheet, b"<a>" * 1_000_000)
changed("far.xlsx", sheet, b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    b'<dimension ref="A1:XFD1048576"/>'
    b'<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>')
laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
changed("laughs.xlsx", sheet, f'<!DOCTYPE w [<!ENTITY l0 "ha">{laughs}]><worksheet>&l9;</worksheet>'.encode())
changed("outside.xlsx", sheet, b'<!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]><worksheet>&x;</worksheet>')
open("deep.json", "w").write("[" * 1_000_000)
open("digits.json", "w").write("1" * 1_000_000)
open("quotes.csv", "w").write('"' + "a" * 10_000_000)
open("zeros.csv", "wb").write(bytes(1_000_000))
for name in ("sparse.xlsx", "sparse.csv", "sparse.json", "sparse.docx"):
    open(name, "wb").truncate(1 << 30)
for name in ("pipe.xlsx", "pipe.csv"):
    os.mkfifo(name)
os.symlink("/etc/shadow", "shadow.csv")
os.symlink("/dev/zero", "zero.csv")
os.symlink("loop.csv", "loop.csv")
os.mkdir("folder.xlsx")
open("new\\nline.csv", "w").write("a\\n")
"""
HOSTILE = (
    "cut.xlsx", "damaged.xlsx", "empty.xlsx", "bomb.xlsx", "nested.xlsx", "far.xlsx", "laughs.xlsx", "outside.xlsx",
    "deep.json", "digits.json", "quotes.csv", "zeros.csv", "sparse.xlsx", "sparse.csv", "sparse.json", "sparse.docx",
    "pipe.xlsx", "pipe.csv", "shadow.csv", "zero.csv", "loop.csv", "folder.xlsx", "new\nline.csv", "..",
    "good.xlsx/x.csv",
)  # fmt: skip
NO_FILES = ("pipe.xlsx", "pipe.csv", "shadow.csv", "zero.csv", "loop.csv", "folder.xlsx")
WANTED: dict[str, dict[str, Any]] = {
    "xlsx": {"cells": {"A1": 1}, "rows": [["root"]]}, "csv": {"rows": [["root"]]}, "json": {"values": {"root": 1}},
    "docx": {"paragraphs": ["root"]},
}  # fmt: skip


@pytest.fixture(scope="module")
def hostile(machine: GvisorSandbox) -> Iterator[str]:
    folder = "/tmp/hostile"
    machine.exec(["mkdir", folder])
    run(machine, FILES, folder)
    yield folder
    machine.exec(["rm", "-r", folder])


def assert_harmless(finding: Finding) -> None:
    assert finding.outcome is not Outcome.PASSED, finding
    assert "is broken" not in finding.detail, finding
    for text in (finding.expected, finding.actual, finding.detail):
        assert text.isprintable()
        assert len(text) < 3_000


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_not_hurt_by_a_document(scene: MachineScene, hostile: str, name: str) -> None:
    kind = name.rpartition(".")[2] if "." in name and name != ".." else "csv"
    assert_harmless(checker("file_matches", path=f"{hostile}/{name}", format=kind, **WANTED[kind]).check(scene))


@pytest.mark.parametrize("name", HOSTILE)
def test_it_is_not_hurt_by_a_text(scene: MachineScene, hostile: str, name: str) -> None:
    assert_harmless(checker("file_contains", path=f"{hostile}/{name}", text="root:x:0").check(scene))


@pytest.mark.parametrize("name", NO_FILES)
def test_it_takes_none_of_these_for_a_file(scene: MachineScene, hostile: str, name: str) -> None:
    assert_harmless(checker("file_exists", path=f"{hostile}/{name}").check(scene))


def test_it_tells_a_file_that_is_broken_from_one_too_large(scene: MachineScene, hostile: str) -> None:
    broken = checker("file_matches", path=f"{hostile}/cut.xlsx").check(scene)
    assert (broken.outcome, "no proper xlsx" in broken.actual) == (Outcome.FAILED, True)
    large = checker("file_matches", path=f"{hostile}/bomb.xlsx").check(scene)
    assert (large.outcome, "unpacks to more" in large.detail) == (Outcome.ERRORED, True)


def test_it_reads_the_good_one_among_them(scene: MachineScene, hostile: str) -> None:
    assert checker("file_matches", path=f"{hostile}/good.xlsx", cells={"A1": 1}).check(scene).outcome is Outcome.PASSED
    odd = checker("file_exists", path=f"{hostile}/new\nline.csv").check(scene)
    assert (odd.outcome, "new line.csv" in odd.expected) == (Outcome.PASSED, True)
