"""A spreadsheet, document, table or JSON file by what is in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Annotated, Any, ClassVar

from ..errors import BadTask
from .base import Checker, Finding, shown
from .compare import Comparison, Difference
from .inside import ask, problem_of
from .options import Between, CellName, Count, Encoding, FilePath, Length, Value
from .scene import Scene

FORMATS = {".xlsx": "xlsx", ".xlsm": "xlsx", ".docx": "docx", ".csv": "csv", ".tsv": "csv", ".json": "json"}
OPTIONS = {
    "xlsx": {"cells", "sheet", "sheets", "charts", "headers", "rows", "columns", "row_count"},
    "csv": {"headers", "rows", "columns", "row_count", "delimiter", "encoding"},
    "docx": {"paragraphs", "headings", "tables", "rows"},
    "json": {"values", "encoding"},
}
EVERYWHERE = {"path", "format", "tolerance"}
NAMED = 10


@dataclass(frozen=True)
class FileMatches(Checker):
    """Content of an xlsx, docx, csv or json file: cells, rows, headings, values by path."""

    kind: ClassVar[str] = "file_matches"

    path: FilePath
    format: str = ""
    cells: Mapping[CellName, Value] | None = None
    sheet: str = ""
    sheets: tuple[str, ...] = ()
    charts: Count | None = None
    headers: tuple[Value, ...] = ()
    rows: tuple[tuple[Value, ...], ...] = ()
    columns: Mapping[str, tuple[Value, ...]] | None = None
    row_count: Count | None = None
    paragraphs: tuple[str, ...] = ()
    headings: tuple[str, ...] = ()
    tables: Count | None = None
    values: Mapping[str, Value] | None = None
    delimiter: Annotated[str, Length(1, 1)] = ","
    encoding: Encoding = "utf-8"
    tolerance: Annotated[float, Between(0, 1e12)] = 1e-6

    def validate(self) -> None:
        kind = self.format or FORMATS.get(PurePosixPath(self.path).suffix.lower(), "")
        if kind not in OPTIONS:
            raise BadTask(f"format: must be one of {', '.join(OPTIONS)}, for the name of the file does not tell.")
        object.__setattr__(self, "format", kind)
        if strange := self.options().keys() - OPTIONS[kind] - EVERYWHERE:
            raise BadTask(f"{min(strange)}: means nothing for a {kind} file.")

    def expectation(self) -> str:
        return f"{shown(self.path)} is a proper {self.format} file with the content asked for."

    def look(self, scene: Scene) -> Finding:
        with scene.guest() as guest:
            summary = ask(guest, "documents", self._request())
        if problem := problem_of(summary):
            return self.found(False, f"{shown(self.path)}: {problem}")
        wrong = list(self._wrong(Comparison(summary, self.tolerance, loose=self.format in ("csv", "docx"))))
        if not wrong:
            return self.found(True, f"{shown(self.path)} has it all.")
        return self._different(wrong)

    def _request(self) -> dict[str, Any]:
        return {
            "path": self.path,
            "format": self.format,
            "cells": list(self.cells or ()),
            "paths": list(self.values or ()),
            "sheet": self.sheet,
            "wants_rows": bool(self.headers or self.rows or self.columns) or self.row_count is not None,
            "delimiter": "\t" if self.path.lower().endswith(".tsv") and self.delimiter == "," else self.delimiter,
            "encoding": self.encoding,
        }

    def _wrong(self, there: Comparison) -> Iterator[Difference]:
        if self.sheet:
            yield from there.sheets((self.sheet,))
        yield from there.sheets(self.sheets) if self.sheets else ()
        yield from there.cells(self.cells) if self.cells else ()
        yield from there.values(self.values) if self.values else ()
        yield from there.headers(self.headers) if self.headers else ()
        yield from there.rows(self.rows) if self.rows else ()
        yield from there.columns(self.columns) if self.columns else ()
        yield from there.texts("headings", self.headings, whole=True) if self.headings else ()
        yield from there.texts("paragraphs", self.paragraphs, whole=False) if self.paragraphs else ()
        yield from there.row_count(self.row_count) if self.row_count is not None else ()
        yield from there.at_least("charts", self.charts) if self.charts else ()
        yield from there.at_least("tables", self.tables) if self.tables else ()

    def _different(self, wrong: list[Difference]) -> Finding:
        more = f" And {len(wrong) - NAMED} more." if len(wrong) > NAMED else ""
        expected = "; ".join(f"{place}: {wanted}" for place, wanted, _ in wrong[:NAMED])
        actual = "; ".join(f"{place}: {there}" for place, _, there in wrong[:NAMED])
        finding = self.found(False, f"In {shown(self.path)}: {actual}.{more}")
        return replace(finding, expected=f"In {shown(self.path)}: {expected}.{more}")
