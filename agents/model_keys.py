"""Keys that an administrator has typed into the settings. One that is in the environment comes before it."""

from typing import Any

from django.utils import timezone

from sandboxes import env
from traces import logsafe

from . import vault
from .errors import BadTask
from .providers import registry
from .standing import ModelKey

LONGEST = 1000


def keep(name: str, key: str, person: Any) -> None:
    """Raises BadTask for what cannot be a key, without repeating it."""
    text = key.strip()
    if name not in names():
        raise BadTask("There is no model with such a key.")
    if not 6 <= len(text) <= LONGEST or not text.isascii() or not text.isprintable() or " " in text:
        raise BadTask("That cannot be a key: it has 6 to 1000 letters, figures and signs, and no spaces.")
    facts = {"sealed": vault.seal(text), "set_by_id": person.pk, "set_at": timezone.now()}
    ModelKey.objects.update_or_create(pk=name, defaults=facts)


def forget(name: str) -> None:
    ModelKey.objects.filter(pk=name).delete()


def names() -> set[str]:
    return {kind.key_env for kind in registry.kinds().values() if kind.key_env}


def stored() -> set[str]:
    return set(ModelKey.objects.values_list("pk", flat=True))


def from_environment(name: str) -> bool:
    try:
        return bool(env.text(name).strip())
    except env.BadSetting:
        return True


def of(name: str) -> str:
    """Empty when there is none. Raises AgentError, as `vault.unseal` does."""
    row = ModelKey.objects.filter(pk=name).first()
    key: str = vault.unseal(row.sealed) if row else ""
    logsafe.remember([key] if key else [])
    return key
