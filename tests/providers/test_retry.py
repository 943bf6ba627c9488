from collections.abc import Callable

import pytest

from agents.errors import ProviderError
from agents.providers.base import Provider
from agents.providers.retry import ATTEMPTS, LONGEST, complete_with_patience, pause_before
from agents.turns import Reply

from .conftest import Maker, claude
from .scene import SYSTEM, TOOLS, goal
from .test_faults import ANSWERS
from .wire import Cut, Status, Truncated, WireServer


class Cancelled(Exception):
    pass


def patiently(
    wire: WireServer, make: Callable[[WireServer], Provider], waited: list[float], attempts: int = ATTEMPTS
) -> Reply:
    return complete_with_patience(
        make(wire), SYSTEM, goal(), TOOLS, attempts=attempts, wait=waited.append, chance=lambda: 0.5
    )


def test_it_asks_again_until_there_is_a_reply(wire: WireServer, make: Maker) -> None:
    waited: list[float] = []
    wire.will(Status(500), Truncated(), Cut(), Status(529), ANSWERS[make.kind])
    assert patiently(wire, make, waited).text == "Hi."
    assert waited == [0.5, 1.0, 2.0, 4.0]


def test_it_waits_as_long_as_the_service_says(wire: WireServer) -> None:
    waited: list[float] = []
    wire.will(Status(429, retry_after="7"), Status(429, retry_after="3600"), ANSWERS["anthropic"])
    patiently(wire, claude, waited)
    assert waited == [7.5, LONGEST]


def test_it_does_not_ask_again_for_what_is_refused(wire: WireServer) -> None:
    waited: list[float] = []
    wire.will(Status(403))
    with pytest.raises(ProviderError, match="403"):
        patiently(wire, claude, waited)
    assert (waited, len(wire.requests)) == ([], 1)


def test_it_gives_up_with_the_last_failure(wire: WireServer) -> None:
    waited: list[float] = []
    wire.will(Status(500), Status(502), Status(503))
    with pytest.raises(ProviderError, match="503") as caught:
        patiently(wire, claude, waited, attempts=3)
    assert not caught.value.permanent
    assert (len(waited), len(wire.requests)) == (2, 3)


def test_it_can_be_called_off_while_it_waits(wire: WireServer) -> None:
    def call_off(seconds: float) -> None:
        raise Cancelled

    wire.will(Status(500), ANSWERS["anthropic"])
    with pytest.raises(Cancelled) as caught:
        complete_with_patience(claude(wire), SYSTEM, goal(), TOOLS, wait=call_off)
    assert caught.value.__context__ is None
    assert len(wire.requests) == 1


def test_it_spreads_pauses_over_all_that_is_allowed() -> None:
    assert [pause_before(n, None, 0.0) for n in (1, 2, 9)] == [0.0, 0.0, 0.0]
    assert [pause_before(n, None, 1.0) for n in (1, 2, 3, 7, 40)] == [1.0, 2.0, 4.0, LONGEST, LONGEST]
