"""What goes wrong on the wire, the same for every provider."""

import logging
import traceback
from dataclasses import replace
from typing import Any

import pytest

from agents.errors import ProviderError
from agents.providers import registry
from agents.turns import Picture, Said

from .conftest import Maker, gpt
from .scene import SYSTEM, TOOLS, goal, picture
from .wire import KEY, Cut, Hang, Status, Truncated, WireServer, replies

ANSWERS = {
    "anthropic": replies.message(replies.text("Hi.")),
    "openai": replies.response(replies.said("Hi.")),
    "compatible": replies.completion("Hi."),
}


def failure(wire: WireServer, make: Maker, **options: object) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        make(wire, **options).complete(SYSTEM, goal(), TOOLS)
    return caught.value


@pytest.mark.parametrize("code", [400, 401, 402, 403, 404, 413, 422])
def test_it_does_not_ask_again_for_what_is_refused(wire: WireServer, make: Maker, code: int) -> None:
    wire.will(Status(code, message="No."))
    error = failure(wire, make)
    assert error.permanent
    assert "No." in str(error)
    assert len(wire.requests) == 1


@pytest.mark.parametrize("code", [408, 409, 429, 500, 502, 503, 529])
def test_it_may_ask_again_when_a_service_is_in_trouble(wire: WireServer, make: Maker, code: int) -> None:
    wire.will(Status(code))
    error = failure(wire, make)
    assert not error.permanent
    assert str(code) in str(error)
    assert len(wire.requests) == 1


@pytest.mark.parametrize("fault", [Truncated(), Cut()], ids=["truncated", "cut"])
def test_it_may_ask_again_when_an_answer_breaks_off(wire: WireServer, make: Maker, fault: Truncated | Cut) -> None:
    wire.will(fault)
    assert not failure(wire, make).permanent


def test_it_may_ask_again_when_nobody_answers(wire: WireServer, make: Maker) -> None:
    wire.will(Hang())
    error = failure(wire, make, timeout=0.3)
    assert not error.permanent
    assert "did not answer in time" in str(error)


def test_it_may_ask_again_when_nobody_is_there(make: Maker) -> None:
    with WireServer() as closed:
        pass
    assert not failure(closed, make).permanent


def test_it_may_ask_again_when_an_answer_makes_no_sense(wire: WireServer, make: Maker) -> None:
    wire.will({"content": [], "output": [], "choices": []})
    error = failure(wire, make)
    assert not error.permanent
    assert "cannot be understood" in str(error)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7.0), ("0.5", 0.5), ("Thu, 01 Jan 2015 00:00:00 GMT", 0.0), ("soon", None), ("", None)],
)
def test_it_says_when_to_ask_again(wire: WireServer, make: Maker, header: str, seconds: float | None) -> None:
    wire.will(Status(429, retry_after=header))
    assert failure(wire, make).retry_after == seconds


def test_it_does_not_ask_again_without_money(wire: WireServer) -> None:
    wire.will(Status(429, kind="insufficient_quota", message="You exceeded your current quota."))
    assert failure(wire, Maker("openai", gpt)).permanent


def test_it_asks_once_for_one_reply(wire: WireServer, make: Maker) -> None:
    wire.will(ANSWERS[make.kind])
    assert make(wire).complete(SYSTEM, goal(), TOOLS).text == "Hi."
    assert len(wire.requests) == 1


def test_it_names_the_variable_of_a_key_that_is_refused(wire: WireServer, make: Maker) -> None:
    wire.key = "another"
    error = failure(wire, make)
    assert error.permanent
    assert f"refused the key in {registry.provider(make.kind).key_env}" in str(error)


@pytest.mark.parametrize("fault", [Status(401), Status(500, message=f"Bad {KEY}!"), Cut(), Hang()])
def test_it_never_shows_the_key(
    wire: WireServer, make: Maker, fault: Status | Cut | Hang, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wire.will(fault)
    error = failure(wire, make, timeout=0.3)
    told = "".join(traceback.format_exception(error))
    provider = make(wire)
    assert KEY not in f"{error!r} {error.__dict__} {told} {caplog.text} {provider!r} {vars(provider)!r}"
    assert (error.__cause__, error.__context__) == (None, None)


def test_it_keeps_the_key_out_of_a_reply(wire: WireServer, make: Maker) -> None:
    wire.will(ANSWERS[make.kind])
    reply = make(wire).complete(SYSTEM, goal(), TOOLS)
    assert KEY not in f"{reply!r} {reply.raw}"


@pytest.mark.parametrize("key", ["", "two words", "new\nline", "schlüssel"])
def test_it_refuses_a_key_that_cannot_be_one(wire: WireServer, make: Maker, key: str) -> None:
    provider: Any = make(wire)
    with pytest.raises(ProviderError, match=provider.key_env) as caught:
        type(provider)(provider.options, key)
    assert caught.value.permanent
    assert not key or key not in str(caught.value)


@pytest.mark.parametrize("address", ["localhost:1234", "", "ftp://host", "https://"])
def test_it_refuses_an_address_that_is_none(wire: WireServer, make: Maker, address: str) -> None:
    provider: Any = make(wire)
    with pytest.raises(ProviderError, match="base_url is no address"):
        type(provider)(replace(provider.options, base_url=address), KEY)


def test_it_refuses_a_picture_that_is_none(wire: WireServer, make: Maker) -> None:
    with pytest.raises(ProviderError, match="cannot be read") as caught:
        make(wire).complete(SYSTEM, [Said((Picture(b"GIF89a", "image/gif", 9000, 9000),))], TOOLS)
    assert caught.value.permanent
    assert wire.requests == []


def test_it_turns_pictures_into_a_kind_that_services_take(wire: WireServer, make: Maker) -> None:
    wire.will(ANSWERS[make.kind])
    make(wire).complete(SYSTEM, [Said((picture(media_type="image/bmp"),))], TOOLS)
    assert "image/jpeg" in str(wire.last)
    assert wire.refusals == []


def test_it_sends_text_with_halves_of_signs(wire: WireServer, make: Maker) -> None:
    wire.will(ANSWERS[make.kind])
    make(wire).complete(SYSTEM, [Said(("A file called \udcff and ü.",))], TOOLS)
    assert "A file called ? and ü." in str(wire.last)
