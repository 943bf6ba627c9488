"""The folder is the registry: a provider is one file here, named after its kind.

Files that begin with an underscore, and those without a Provider of their own, are none.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from sandboxes import env
from sandboxes.folder import defined_in

from .. import providers
from ..errors import AgentError, BadTask, ProviderError
from ._options import checked
from .base import Provider

Kept = Callable[[str], str]
"""From the name of a key's variable to a key that is kept elsewhere; empty where there is none."""


@cache
def kinds() -> dict[str, type[Provider]]:
    return defined_in(providers, Provider)  # type: ignore[type-abstract]


def provider(kind: str) -> type[Provider]:
    """Raises BadTask for a kind that does not exist."""
    try:
        return kinds()[kind]
    except KeyError:
        raise BadTask(f"There is no provider “{kind}”; choose one of {', '.join(kinds())}.") from None


def read_options(kind: str, values: Mapping[str, Any]) -> Any:
    """A provider's Options from JSON, TOML or Python. Raises BadTask, which names the option and what it may be."""
    wanted: Any = provider(kind)
    try:
        return checked(wanted.Options, values)
    except (TypeError, ValueError) as error:
        raise BadTask(f"The options of {kind} cannot be used: {error}") from None


def nothing_kept(name: str) -> str:
    return ""


def make(kind: str, options: Any, kept: Kept = nothing_kept) -> Provider:
    """A provider with the key that its variable holds, else the one that is `kept` under that name.

    Raises BadTask for a kind that does not exist, and ProviderError when the key is missing or cannot be one.
    """
    factory: Any = provider(kind)
    made: Provider = factory(options, _key(factory.key_env, kept))
    return made


def trouble(kind: str, kept: Kept = nothing_kept) -> str:
    """Why the provider cannot be used here; empty when it can. Raises BadTask for a kind that does not exist."""
    try:
        _key(provider(kind).key_env, kept)
    except AgentError as error:
        return str(error)
    return ""


def keys() -> list[str]:
    """Every key that this process holds, so that none of them gets into a trace."""
    names = {kind.key_env for kind in kinds().values() if kind.key_env}
    return [key for name in sorted(names) if (key := env.text(name).strip())]


def _key(name: str, kept: Kept) -> str:
    if not name:
        return ""
    try:
        key = env.text(name).strip() or kept(name)
    except env.BadSetting as error:
        raise ProviderError(str(error), permanent=True) from None
    if not key:
        raise ProviderError(
            f"There is no key for this model: set {name}, or {name}_FILE to a file that holds it, or type it into the "
            "settings.",
            permanent=True,
        )
    return key
