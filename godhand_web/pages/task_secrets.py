"""Secrets that a form declares. A value goes one way: what has to come back with the form comes back sealed."""

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict

from agents import vault
from agents.errors import AgentError, BadTask
from agents.placeholders import checked

from ..models import User


@dataclass(frozen=True)
class Held:
    """One line of the list: `word` brings the value back, and nobody but this installation can read it."""

    name: str
    word: str


def given(person: User, fields: QueryDict) -> tuple[dict[str, str], BadTask | None]:
    """Values by name, and what is wrong with them. What is right is kept, whatever else is wrong."""
    values, trouble = _returned(person, fields.getlist("secret-kept")), None
    names, typed = fields.getlist("secret-name"), fields.getlist("secret-value")
    for name, value in zip((name.strip() for name in names), typed, strict=False):
        if not name and not value:
            continue
        try:
            if not name:
                raise BadTask("secrets: give each a name; the agent writes {{name}}.")
            values |= checked({name: value}).values
        except BadTask as error:
            trouble = error
    try:
        checked(values)
    except BadTask as error:
        trouble = error
    return values, trouble


def held(person: User, values: dict[str, str]) -> list[Held]:
    return [Held(name, vault.seal([person.pk, name, value])) for name, value in values.items()]


def _returned(person: User, words: list[str]) -> dict[str, str]:
    """One that was sealed for somebody else, or with another key, is left out."""
    found: dict[str, str] = {}
    for word in words:
        try:
            owner, name, value = _unsealed(word)
        except (AgentError, ValueError, TypeError):
            continue
        if owner == person.pk:
            found[name] = value
    return found


def _unsealed(word: str) -> Any:
    return vault.unseal(word)
