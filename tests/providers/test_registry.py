from pathlib import Path

import pytest

from agents.errors import BadTask, ProviderError
from agents.providers import registry
from agents.providers.anthropic import AnthropicOptions, AnthropicProvider
from agents.providers.pricing import Price

FOLDER = Path(registry.__file__).parent
LOCAL = {"model": "qwen", "base_url": "http://localhost:1"}
HELPERS = {"__init__", "base", "pricing", "registry", "retry"}


def test_it_finds_every_provider_in_the_folder() -> None:
    files = {path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_")}
    assert set(registry.kinds()) == files - HELPERS
    assert {"anthropic", "openai", "compatible"} <= set(registry.kinds())


def test_it_names_every_provider_after_its_file() -> None:
    assert [kind for kind, provider in registry.kinds().items() if provider.kind != kind or not provider.label] == []


def test_it_says_which_providers_there_are() -> None:
    with pytest.raises(BadTask, match=r"“gemini”; choose one of .*anthropic"):
        registry.provider("gemini")


@pytest.mark.parametrize(
    ("kind", "variable", "given"),
    [
        ("anthropic", "ANTHROPIC_API_KEY", {}),
        ("openai", "OPENAI_API_KEY", {}),
        ("compatible", "GODHAND_COMPATIBLE_KEY", LOCAL),
    ],
)
def test_it_names_the_variable_of_a_missing_key(
    kind: str, variable: str, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(variable, raising=False)
    with pytest.raises(ProviderError, match=f"set {variable}") as caught:
        registry.make(kind, registry.read_options(kind, given))
    assert caught.value.permanent
    monkeypatch.setenv(variable, "a-key\n")
    assert registry.make(kind, registry.read_options(kind, given)).kind == kind


def test_it_reads_a_key_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "key").write_text("from-a-file\n")
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", str(tmp_path / "key"))
    assert isinstance(registry.make("anthropic", AnthropicOptions()), AnthropicProvider)
    monkeypatch.setenv("ANTHROPIC_API_KEY_FILE", str(tmp_path / "none"))
    with pytest.raises(ProviderError, match="ANTHROPIC_API_KEY_FILE"):
        registry.make("anthropic", AnthropicOptions())


def test_it_reads_options() -> None:
    price = {"input": 1, "output": 2, "cache_read": 0, "cache_write": 1}
    options = registry.read_options("anthropic", {"model": "claude-sonnet-5", "effort": "high", "price": price})
    assert options == AnthropicOptions(model="claude-sonnet-5", effort="high", price=Price(1, 2, 0, 1))
    assert registry.read_options("anthropic", {"screen": [1024, 768]}).screen == (1024, 768)
    assert registry.read_options("compatible", {**LOCAL, "temperature": None, "timeout": 5}).timeout == 5


@pytest.mark.parametrize(
    ("kind", "given", "words"),
    [
        ("anthropic", {"modle": "x"}, "^modle: there is no such option; there are base_url, cache_ttl"),
        ("compatible", {"model": "qwen"}, "^base_url: is needed"),
        ("compatible", {**LOCAL, "space": "percent"}, "^space: must be one of pixels, thousand, per_mille"),
        ("compatible", {**LOCAL, "space": ["pixels"]}, "^space: must be one of"),
        ("compatible", {**LOCAL, "model": 7}, "^model: must be text"),
        ("compatible", {**LOCAL, "multiple": "28"}, "^multiple: must be a whole number"),
        ("compatible", {**LOCAL, "multiple": True}, "^multiple: must be a whole number"),
        ("compatible", {**LOCAL, "timeout": float("nan")}, "^timeout: must be a number"),
        ("compatible", {**LOCAL, "temperature": "warm"}, "^temperature: must be a number"),
        ("openai", {"acknowledge_safety": "no"}, "^acknowledge_safety: must be true or false"),
        ("anthropic", {"screen": [1280]}, "^screen: must be a list of 2"),
        ("anthropic", {"screen": [1280, "800"]}, r"^screen\[1\]: must be a whole number"),
        ("anthropic", {"price": 3}, "^price: must be a table with input, output"),
        ("anthropic", {"price": {"input": 1}}, r"^price\.output: is needed"),
        ("anthropic", {"price": {"in": 1}}, r"^price\.in: there is no such option"),
        ("anthropic", {"price": {"input": "1"}}, r"^price\."),
        ("scripted", {"script": 3}, "^script: must be the name"),
    ],
)
def test_it_says_what_is_wrong_with_options(kind: str, given: dict[str, object], words: str) -> None:
    with pytest.raises(BadTask, match=words):
        registry.read_options(kind, given)
