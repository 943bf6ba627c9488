"""What a document has against what it should have. The document's side was written by an attacker, perhaps."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, NamedTuple, TypeVar

from .base import CannotCheck, shown

T = TypeVar("T", int, bool, list[Any], dict[str, Any])
SHOWN_VALUE = 120
NOTHING = "nothing"


class Difference(NamedTuple):
    place: str
    expected: str
    actual: str


@dataclass(frozen=True)
class Comparison:
    """`loose`: the format knows text only, so “12” is as good as 12."""

    summary: Mapping[str, Any]
    tolerance: float
    loose: bool

    def cells(self, wanted: Mapping[str, object]) -> Iterator[Difference]:
        values, formulas = self._part("cells", dict), self._part("formulas", dict)
        for name, value in wanted.items():
            formula = isinstance(value, str) and value.startswith("=")
            actual = formulas.get(name) if formula else values.get(name)
            if name not in values:
                yield Difference(name, _said(value), "no such sheet")
            elif not self.alike(value, actual):
                uncalculated = f" (the formula {_said(formulas[name])})" if name in formulas and not formula else ""
                yield Difference(name, _said(value), _said(actual) + uncalculated)

    def values(self, wanted: Mapping[str, object]) -> Iterator[Difference]:
        values = self._part("values", dict)
        for path, value in wanted.items():
            if path not in values:
                yield Difference(path or "the whole", _said(value), NOTHING)
            elif not self.alike(value, values[path]):
                yield Difference(path or "the whole", _said(value), _said(values[path]))

    def at_least(self, name: str, least: int) -> Iterator[Difference]:
        count = self._part(name, int)
        if count < least:
            yield Difference(name, f"at least {least}", str(count))

    def texts(self, name: str, wanted: Sequence[str], *, whole: bool) -> Iterator[Difference]:
        """Each is one of the document's, or in one of them, in the same order."""
        there = [_squeezed(str(text)) for text in self._part(name, list)]
        start = 0
        for text in wanted:
            sought = _squeezed(text)
            hits = (at for at in range(start, len(there)) if sought == there[at] or (not whole and sought in there[at]))
            found = next(hits, None)
            if found is None:
                yield Difference(name, _said(text), _some(there[start:]))
            else:
                start = found if not whole else found + 1

    def headers(self, wanted: Sequence[object]) -> Iterator[Difference]:
        first = self._rows()[:1]
        if not first or not self._same_row(wanted, first[0]):
            yield Difference("headers", _said(list(wanted)), _said(first[0]) if first else NOTHING)

    def rows(self, wanted: Sequence[Sequence[object]]) -> Iterator[Difference]:
        rows = self._rows()
        for row in wanted:
            if not any(self._same_row(row, other) for other in rows):
                self._refuse_if_cut()
                nearest = max(rows, key=lambda other: self._in_common(row, other), default=None)
                yield Difference("row", _said(list(row)), NOTHING if nearest is None else f"nearest {_said(nearest)}")

    def row_count(self, wanted: int) -> Iterator[Difference]:
        self._refuse_if_cut()
        count = max(0, len(self._rows()) - 1)
        if count != wanted:
            yield Difference("rows below the headers", str(wanted), str(count))

    def columns(self, wanted: Mapping[str, Sequence[object]]) -> Iterator[Difference]:
        self._refuse_if_cut()
        rows = self._rows()
        headers = [_squeezed(str(header)) for header in rows[0]] if rows else []
        for header, values in wanted.items():
            if _squeezed(header) not in headers:
                yield Difference(f"column “{shown(header)}”", _said(list(values)), "no such column")
                continue
            at = headers.index(_squeezed(header))
            actual = [row[at] if at < len(row) else None for row in rows[1:]]
            if not self._same_row(values, actual):
                yield Difference(f"column “{shown(header)}”", _said(list(values)), _said(actual))

    def sheets(self, wanted: Sequence[str]) -> Iterator[Difference]:
        there = self._part("sheets", list)
        for name in wanted:
            if name not in there:
                yield Difference("sheet", _said(name), _some([str(other) for other in there]))

    def alike(self, wanted: object, actual: object) -> bool:
        if self.loose and isinstance(actual, str):
            actual = _number(actual) if type(wanted) in (int, float) else actual.strip()
        if isinstance(wanted, bool) or isinstance(actual, bool):
            return wanted is actual
        if isinstance(wanted, int | float) and isinstance(actual, int | float):
            return abs(wanted - actual) <= self.tolerance
        if isinstance(wanted, list) and isinstance(actual, list):
            return len(wanted) == len(actual) and all(map(self.alike, wanted, actual))
        if isinstance(wanted, dict) and isinstance(actual, dict):
            return wanted.keys() == actual.keys() and all(self.alike(wanted[key], actual[key]) for key in wanted)
        if isinstance(wanted, str) and isinstance(actual, str):
            return wanted.strip() == actual.strip()
        return wanted == actual or (wanted in ("", None) and actual in ("", None))

    def _part(self, name: str, kind: type[T]) -> T:
        part = self.summary.get(name)
        if not isinstance(part, kind):
            raise CannotCheck(f"The machine did not tell about the document's {name}.")
        return part

    def _rows(self) -> list[list[Any]]:
        if "rows" not in self.summary:
            return []
        return [row for row in self._part("rows", list) if isinstance(row, list)]

    def _refuse_if_cut(self) -> None:
        if self.summary.get("cut") is True:
            raise CannotCheck(f"The table is longer than the {len(self._rows())} rows that a check looks into.")

    def _same_row(self, wanted: Sequence[object], actual: Sequence[object]) -> bool:
        """Empty cells at the end do not count."""
        return all(self.alike(value, other) for value, other in zip_longest(wanted, actual, fillvalue=""))

    def _in_common(self, wanted: Sequence[object], actual: Sequence[object]) -> int:
        return sum(map(self.alike, wanted, actual))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _said(value: object) -> str:
    """A text in quotes and a number without them: both look alike in a spreadsheet."""
    return shown(json.dumps(value, ensure_ascii=False), SHOWN_VALUE) if value is not None else "empty"


def _some(texts: list[str]) -> str:
    return _said(texts[:10]) if texts else NOTHING
