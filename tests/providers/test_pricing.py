import pytest

from agents.providers.pricing import PRICES, Price, bare_name, cost
from agents.turns import Usage

MILLION = 1_000_000


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("claude-opus-5-5", Usage(input=MILLION), 4),
        ("claude-opus-5-5", Usage(output=MILLION), 20),
        ("claude-opus-5-5", Usage(cache_read=MILLION), 0.2),
        ("claude-opus-5-5", Usage(cache_write=MILLION), 5),
        ("claude-haiku-4-5-20251001", Usage(input=MILLION), 1),
        ("gpt-5.4-2026-03-05", Usage(input=200_000, output=MILLION), 15.5),
        ("gpt-5.4", Usage(input=300_000, output=MILLION), 24),
        ("claude-haiku-5-5", Usage(cache_read=100_001), 0.00500005),
    ],
)
def test_it_knows_what_tokens_cost(model: str, usage: Usage, dollars: float) -> None:
    assert cost(model, usage) == pytest.approx(dollars)


@pytest.mark.parametrize("model", ["claude-opus-9", "claude-fable-5-2", "gpt-5.4-pro", "qwen3-vl", ""])
def test_it_does_not_guess_the_price_of_an_unknown_model(model: str) -> None:
    assert cost(model, Usage(input=MILLION)) is None


def test_it_takes_a_price_that_is_brought_along() -> None:
    assert cost("qwen3-vl", Usage(MILLION, MILLION), price=Price(1, 2, 0, 0)) == 3


def test_it_asks_more_for_a_prefix_that_is_kept_an_hour() -> None:
    assert cost("claude-opus-5", Usage(cache_write=MILLION), hour=True) == 10
    assert cost("gpt-5.4", Usage(cache_write=200_000), hour=True) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("claude-opus-4-5-20251101", "claude-opus-4-5"),
        ("claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("gpt-5.5-2026-04-23", "gpt-5.5"),
        ("claude-opus-5-5", "claude-opus-5-5"),
    ],
)
def test_it_drops_the_date_of_a_snapshot(model: str, name: str) -> None:
    assert bare_name(model) == name


def test_it_never_reads_dearer_than_it_writes() -> None:
    assert [name for name, price in PRICES.items() if not price.cache_read < price.input <= price.cache_write] == []
