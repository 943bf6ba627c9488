"""Runs inside the machine: what is in a document. Reads a request as JSON, prints a summary of bounded size as JSON.

`problem` says what is wrong with the file, `unable` why it cannot be looked into here.
"""

# ruff: noqa: PTH118, PTH123

import csv
import io
import json
import math
import os
import re
import resource
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable
from datetime import date, datetime, time
from importlib import import_module
from typing import Any

MEMORY = 1 << 30
CPU_SECONDS = 30
LARGEST = 64 << 20
LARGEST_UNPACKED = 256 << 20
MOST_PARTS = 5_000
MOST_ROWS, MOST_COLUMNS, MOST_TEXT = 10_000, 256, 32_767
MOST_IN_ALL = 4 << 20

Summary = dict[str, Any]


class Unable(Exception):
    """The sentence says why there is no answer."""


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    print(json.dumps(answer(json.load(sys.stdin))))


def answer(request: Summary) -> Summary:
    try:
        with opened(request["path"]) as file:
            return FORMATS[request["format"]](file, request)
    except Unable as error:
        return {"unable": str(error)}
    except (MemoryError, ImportError) as error:
        return {"unable": f"The machine cannot look into it ({str(error) or 'not enough memory'})."}
    except OSError as error:
        return {"problem": f"{error.strerror or error}."}
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:200]
        return {"problem": f"It is no proper {request['format']} file ({reason})."}


def opened(path: str) -> io.BufferedReader:
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    info = os.fstat(descriptor)
    if not stat.S_ISREG(info.st_mode):
        raise OSError(None, "It is not a regular file")
    if info.st_size > LARGEST:
        raise Unable(f"The file has {info.st_size} bytes; a check looks into at most {LARGEST}.")
    return os.fdopen(descriptor, "rb")


def check_archive(file: io.BufferedReader) -> list[str]:
    with zipfile.ZipFile(file) as archive:
        parts = archive.infolist()
    if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > LARGEST_UNPACKED:
        raise Unable("The file unpacks to more than a check looks into.")
    return [part.filename for part in parts]


def xlsx(file: io.BufferedReader, request: Summary) -> Summary:
    parts = check_archive(file)
    book = load(file, values=True)
    summary: Summary = {
        "sheets": book.sheetnames[:MOST_COLUMNS],
        "charts": sum(bool(re.fullmatch(r"xl/charts/chart[^/]*\.xml", part)) for part in parts),
    }
    if request["cells"]:
        formulas = cells(load(file, values=False), request["cells"]).items()
        summary["formulas"] = {name: text for name, text in formulas if isinstance(text, str) and text.startswith("=")}
    if has_uncalculated(file, parts):
        book = calculated(file) or book
    summary["cells"] = cells(book, request["cells"])
    sheet = sheet_of(book, request["sheet"])
    if request["wants_rows"] and sheet is not None:
        sheet.reset_dimensions()
        summary |= table(sheet.iter_rows(max_row=MOST_ROWS + 2, max_col=MOST_COLUMNS, values_only=True))
    return summary


def has_uncalculated(file: io.BufferedReader, parts: list[str]) -> bool:
    """Formulas that no spreadsheet program has calculated yet have no values in the file."""
    with zipfile.ZipFile(file) as archive:
        sheets = (archive.read(part) for part in parts if re.fullmatch(r"xl/worksheets/[^/]+\.xml", part))
        return any(re.search(rb"(</f>|<f/>)\s*(<v\s*/>|<v></v>|</c>)", sheet) for sheet in sheets)


def calculated(file: io.BufferedReader) -> Any:
    """The workbook with all formulas calculated, or None where there is no program for that."""
    file.seek(0)
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "source.xlsx"), os.path.join(folder, "target.xlsx")
        with open(source, "wb") as copy:
            copy.write(file.read(LARGEST))
        argv = ["ssconvert", "--recalc", source, target]
        try:
            subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=True)
            done = open(target, "rb")  # noqa: SIM115
        except (OSError, subprocess.SubprocessError):
            return None
    check_archive(done)
    return load(done, values=True)


def load(file: Any, *, values: bool) -> Any:
    sys.modules["numpy"] = None  # type: ignore[assignment]  # openpyxl can do without, and loads in half the time
    return import_module("openpyxl").load_workbook(file, read_only=True, data_only=values, keep_links=False)


def sheet_of(book: Any, name: str) -> Any:
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    return sheets.get(name) if name else next(iter(sheets.values()), None)


def cells(book: Any, wanted: Iterable[str]) -> Summary:
    """By the name that was asked for, such as B2 or Sheet1!B2. A cell of a sheet that is not there is left out."""
    places: dict[str, dict[str, tuple[int, int]]] = {}
    for name in wanted:
        sheet_name, _, place = name.rpartition("!")
        row_and_column = import_module("openpyxl.utils").coordinate_to_tuple(place)
        places.setdefault(sheet_name.strip("'"), {})[name] = row_and_column
    found: Summary = {}
    for sheet_name, of_sheet in places.items():
        sheet = sheet_of(book, sheet_name)
        if sheet is not None:
            found |= cells_of_sheet(sheet, of_sheet)
    return found


def cells_of_sheet(sheet: Any, places: dict[str, tuple[int, int]]) -> Summary:
    """In one pass, for every look into a sheet reads it from its beginning."""
    sheet.reset_dimensions()
    wanted = {row for row, _ in places.values()}
    rows = enumerate(sheet.iter_rows(max_row=max(wanted), values_only=True), 1)
    kept = {number: row for number, row in rows if number in wanted}
    return {
        name: scalar(kept[row][column - 1]) if row in kept and column <= len(kept[row]) else None
        for name, (row, column) in places.items()
    }


def docx(file: io.BufferedReader, request: Summary) -> Summary:
    check_archive(file)
    document = import_module("docx").Document(file)
    texts = [(str(one.style.name if one.style else ""), one.text[:MOST_TEXT]) for one in document.paragraphs]
    headings = [text for style, text in texts if re.match("Heading|Title", style)]
    rows = ([cell.text for cell in row.cells] for one in document.tables for row in one.rows)
    summary = table(rows) if request["wants_rows"] else {}
    return summary | {
        "headings": bounded(headings),
        "paragraphs": bounded([text for _, text in texts if text.strip()]),
        "tables": len(document.tables),
    }


def csv_(file: io.BufferedReader, request: Summary) -> Summary:
    encoding = "utf-8-sig" if request["encoding"] == "utf-8" else request["encoding"]
    with io.TextIOWrapper(file, encoding, newline="") as text:
        return table(csv.reader(text, delimiter=request["delimiter"], strict=True))


def json_(file: io.BufferedReader, request: Summary) -> Summary:
    content = json.loads(file.read().decode(request["encoding"]))
    found = {path: at(content, path) for path in request["paths"]}
    return {"values": {path: value[0] for path, value in found.items() if value}}


def at(content: Any, path: str) -> list[Any]:
    """The one value there, or none."""
    for key in path.replace("[", ".").replace("]", "").split(".") if path else []:
        if isinstance(content, dict) and key in content:
            content = content[key]
        elif isinstance(content, list) and key.isdecimal() and int(key) < len(content):
            content = content[int(key)]
        else:
            return []
    if len(json.dumps(content)) > MOST_TEXT:
        raise Unable(f"What is at “{path}” is larger than a check looks at.")
    return [content]


def table(rows: Iterable[Iterable[Any]]) -> Summary:
    kept: list[list[Any]] = []
    size, cut = 0, False
    for row in rows:
        cut = len(kept) > MOST_ROWS or size > MOST_IN_ALL
        if cut:
            break
        kept.append(trimmed([scalar(value) for value in row][:MOST_COLUMNS]))
        size += sum(len(value) if isinstance(value, str) else 8 for value in kept[-1])
    while kept and not kept[-1]:
        kept.pop()
    return {"rows": kept, "cut": cut}


def trimmed(row: list[Any]) -> list[Any]:
    while row and row[-1] in (None, ""):
        row.pop()
    return row


def bounded(texts: list[str]) -> list[str]:
    if sum(map(len, texts)) > MOST_IN_ALL or len(texts) > MOST_ROWS:
        raise Unable("The document is longer than a check looks into.")
    return texts


def scalar(value: Any) -> Any:
    if isinstance(value, datetime) and value.time() == time():
        value = value.date()
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) < 1 << 53 and math.isfinite(value):
        return value
    return str(value)[:MOST_TEXT]


FORMATS = {"xlsx": xlsx, "docx": docx, "csv": csv_, "json": json_}

if __name__ == "__main__":
    main()
