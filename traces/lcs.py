"""The longest common subsequence, exactly, in a few machine words at a time."""

from collections.abc import Hashable, Sequence


def common_subsequence(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Pairs of indices, both rising, of as many equal elements as there can be. The common beginning is among them."""
    start = 0
    while start < len(a) and start < len(b) and a[start] == b[start]:
        start += 1
    end = 0
    while end < len(a) - start and end < len(b) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    middle = _between(a[start : len(a) - end], b[start : len(b) - end])
    return [
        *((at, at) for at in range(start)),
        *((start + at_a, start + at_b) for at_a, at_b in middle),
        *((len(a) - back, len(b) - back) for back in range(end, 0, -1)),
    ]


def _between(a: Sequence[Hashable], b: Sequence[Hashable]) -> list[tuple[int, int]]:
    """Hyyrö's bit-parallel rows. In the row of b's element, bit i is clear where a[i] makes the subsequence longer."""
    places: dict[Hashable, int] = {}
    for at, element in enumerate(a):
        places[element] = places.get(element, 0) | 1 << at
    whole = (1 << len(a)) - 1
    row, rows = whole, []
    for element in b:
        matches = row & places.get(element, 0)
        row = (row + matches | row - matches) & whole
        rows.append(row)
    return _walk_back(rows, len(a), len(b))


def _walk_back(rows: Sequence[int], at_a: int, at_b: int) -> list[tuple[int, int]]:
    pairs = []
    while at_a and at_b:
        if rows[at_b - 1] >> (at_a - 1) & 1:
            at_a -= 1
        elif at_b > 1 and not rows[at_b - 2] >> (at_a - 1) & 1:
            at_b -= 1
        else:
            at_a, at_b = at_a - 1, at_b - 1
            pairs.append((at_a, at_b))
    return pairs[::-1]
