"""What a reply costs, in dollars for a million tokens.

The list prices of 2026-11: they change, so a caller may bring its own. A model that is not here has no known cost,
which is said as None and never as nothing.
"""

import re
from dataclasses import dataclass, replace

from ..turns import Usage

_DATED = re.compile(r"[-@](\d{8}|\d{4}-\d\d-\d\d|latest)$")


@dataclass(frozen=True)
class Price:
    """`cache_write_hour` is for prefixes kept an hour; None where there is one price for all.

    A prompt of more than `long_above` tokens costs `long_input` and `long_output` times as much; 0 is never.
    """

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_hour: float | None = None
    long_above: int = 0
    long_input: float = 1
    long_output: float = 1


def _claude(input: float, output: float, cache_read: float) -> Price:  # noqa: A002
    return Price(input, output, cache_read, input * 1.25, input * 2)


def _gpt(input: float, output: float, cache_read: float, *, writes: float = 1) -> Price:  # noqa: A002
    return Price(input, output, cache_read, input * writes, None, 272_000, 2, 1.5)


_OPUS = _claude(5, 25, 0.5)
_SONNET = _claude(3, 15, 0.3)

PRICES: dict[str, Price] = {
    "claude-fable-5-1": _claude(10, 50, 0.25),
    "claude-mythos-5-1": _claude(10, 50, 0.25),
    "claude-fable-5": _claude(10, 50, 1),
    "claude-mythos-5": _claude(10, 50, 1),
    "claude-opus-5-5": _claude(4, 20, 0.2),
    "claude-opus-5": _OPUS,
    "claude-opus-4-8": _OPUS,
    "claude-opus-4-7": _OPUS,
    "claude-opus-4-6": _OPUS,
    "claude-opus-4-5": _OPUS,
    "claude-sonnet-5-5": _claude(2, 10, 0.2),
    "claude-sonnet-5": _claude(2, 10, 0.2),
    "claude-sonnet-4-6": _SONNET,
    "claude-sonnet-4-5": _SONNET,
    "claude-haiku-5-5": replace(_claude(0.1, 0.5, 0.01), long_above=100_000, long_input=5, long_output=5),
    "claude-haiku-4-5": _claude(1, 5, 0.1),
    "gpt-6-astra": _gpt(10, 50, 1, writes=1.25),
    "gpt-6-sol": _gpt(2, 10, 0.2, writes=1.25),
    "gpt-6-luna": _gpt(0.1, 0.5, 0.01, writes=1.25),
    "gpt-5.6": _gpt(4, 20, 0.4),
    "gpt-5.6-sol": _gpt(4, 20, 0.4),
    "gpt-5.6-terra": _gpt(2, 12, 0.2),
    "gpt-5.6-luna": _gpt(0.2, 1.2, 0.02),
    "gpt-5.5": _gpt(5, 30, 0.5),
    "gpt-5.4": _gpt(2.5, 15, 0.25),
    "gpt-5.4-mini": _gpt(0.75, 4.5, 0.075),
}


def known_models(family: str) -> list[str]:
    return [name for name in PRICES if name.startswith(family)]


def bare_name(model: str) -> str:
    """Without the date of a snapshot: `claude-haiku-4-5-20251001` is `claude-haiku-4-5`."""
    return _DATED.sub("", model)


def cost(model: str, usage: Usage, *, price: Price | None = None, hour: bool = False) -> float | None:
    """In dollars; None for a model without a known price. `hour`: what was written to the cache is kept an hour."""
    price = price or PRICES.get(bare_name(model))
    if price is None:
        return None
    prompt = usage.input + usage.cache_read + usage.cache_write
    is_long = bool(price.long_above) and prompt > price.long_above
    write = price.cache_write_hour if hour and price.cache_write_hour is not None else price.cache_write
    read = usage.input * price.input + usage.cache_read * price.cache_read + usage.cache_write * write
    written = usage.output * price.output
    return (read * (price.long_input if is_long else 1) + written * (price.long_output if is_long else 1)) / 1e6
