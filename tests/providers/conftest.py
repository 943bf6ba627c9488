from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from agents.providers.anthropic import AnthropicOptions, AnthropicProvider
from agents.providers.base import Provider
from agents.providers.compatible import CompatibleOptions, CompatibleProvider
from agents.providers.openai import OpenAIOptions, OpenAIProvider

from .wire import KEY, WireServer


@pytest.fixture
def wire() -> Iterator[WireServer]:
    with WireServer() as server:
        yield server


def claude(wire: WireServer, model: str = "claude-opus-5-5", **more: object) -> AnthropicProvider:
    options = AnthropicOptions(model=model, base_url=wire.anthropic_url, **more)  # type: ignore[arg-type]
    return AnthropicProvider(options, KEY)


def gpt(wire: WireServer, **more: object) -> OpenAIProvider:
    return OpenAIProvider(OpenAIOptions(base_url=wire.openai_url, **more), KEY)  # type: ignore[arg-type]


def other(wire: WireServer, **more: object) -> CompatibleProvider:
    options = CompatibleOptions("qwen3-vl", wire.openai_url, **more)  # type: ignore[arg-type]
    return CompatibleProvider(options, KEY)


@dataclass(frozen=True)
class Maker:
    """`make(wire, **options)` is a provider that speaks with the server of the test."""

    kind: str
    build: Callable[..., Provider]

    def __call__(self, wire: WireServer, **options: object) -> Provider:
        return self.build(wire, **options)


MAKERS: dict[str, Callable[..., Provider]] = {"anthropic": claude, "openai": gpt, "compatible": other}


@pytest.fixture(params=MAKERS)
def make(request: pytest.FixtureRequest) -> Maker:
    """Each provider in turn."""
    return Maker(request.param, MAKERS[request.param])
