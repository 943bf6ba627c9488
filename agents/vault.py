"""Secrets at rest: sealed with a key that is not in the database."""

import base64
import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings

from traces.known import of_this_process
from traces.redact import Redactor

from .errors import AgentError
from .models import Task
from .placeholders import Secrets
from .providers import registry
from .standing import ModelKey

PURPOSE = b"godhand: secrets at rest\0"


def seal(value: Any) -> str:
    """JSON, for a column of text."""
    return _box().encrypt(json.dumps(value).encode()).decode()


def unseal(sealed: str) -> Any:
    """Raises AgentError when the installation's key is another one now."""
    try:
        return json.loads(_box().decrypt(sealed.encode()))
    except InvalidToken:
        raise AgentError(
            "The secrets cannot be read any more: they were sealed with another GODHAND_SECRET_KEY."
        ) from None


def secrets_of(task: Task) -> Secrets:
    """Raises AgentError, as unseal does."""
    return Secrets(unseal(task.secrets)) if task.secrets else Secrets()


def redactor_for(secrets: Secrets) -> Redactor:
    """Hides those, and all that this process knows by itself."""
    own = (*registry.keys(), *_model_keys(), *of_this_process(), settings.SECRET_KEY)
    return Redactor(own, secrets.values)


def cleaner_of(task: Task) -> Redactor:
    """For what is written beside the trace. Raises AgentError, as unseal does."""
    return redactor_for(secrets_of(task))


def _model_keys() -> Iterator[str]:
    """One that cannot be read any more hides nothing."""
    for sealed in ModelKey.objects.values_list("sealed", flat=True):
        with suppress(AgentError):
            yield unseal(sealed)


def _box() -> Fernet:
    key = hashlib.sha256(PURPOSE + settings.SECRET_KEY.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(key))
