"""A text as a square that telephones read, drawn as one path of SVG."""

from dataclasses import dataclass

import qrcode

QUIET = 2


@dataclass(frozen=True)
class Square:
    """`side` is in modules: path and side go into `d` and `viewBox`."""

    side: int
    path: str


def square(text: str) -> Square:
    code = qrcode.QRCode(error_correction=qrcode.ERROR_CORRECT_M, border=QUIET)
    code.add_data(text)
    rows = code.get_matrix()
    return Square(len(rows), "".join(_runs(y, row) for y, row in enumerate(rows)))


def _runs(y: int, row: list[bool]) -> str:
    path, start = "", None
    for x, dark in enumerate([*row, False]):
        if dark and start is None:
            start = x
        elif not dark and start is not None:
            path += f"M{start} {y}h{x - start}v1h-{x - start}z"
            start = None
    return path
