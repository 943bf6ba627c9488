"""What every benchmark needs: percentiles, a clock, and one flat JSON object on the last line."""

import argparse
import json
import time
from collections.abc import Callable, Mapping, Sequence


def percentile(values: Sequence[float], percent: float) -> float:
    """By linear interpolation between the two nearest values."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def p50(values: Sequence[float]) -> float:
    return percentile(values, 50)


def p95(values: Sequence[float]) -> float:
    return percentile(values, 95)


def milliseconds(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return (time.perf_counter() - began) * 1000


def positive(word: str) -> int:
    """How many there shall be, as an option: of none there is nothing to tell."""
    number = int(word)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is too few: 1 is the least")
    return number


def report(results: Mapping[str, float | int | str]) -> None:
    """Rounded to what the clock can tell."""
    print(json.dumps({key: round(value, 2) if isinstance(value, float) else value for key, value in results.items()}))
