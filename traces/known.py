"""Secrets that this process holds by itself, which nobody has to declare."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

SECRET_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS)(?:_FILE)?$")
ADDRESS_NAME = re.compile(r"_(?:URL|URI|DSN)$")


def of_this_process() -> list[str]:
    """Values of variables that are called keys, tokens or passwords, and passwords in addresses."""
    return sorted({value for value in _values() if value})


def _values() -> Iterator[str]:
    for name, value in os.environ.items():
        if SECRET_NAME.search(name):
            yield _from_file(value) if name.endswith("_FILE") else value.strip()
        elif ADDRESS_NAME.search(name):
            yield from _passwords(value)


def _from_file(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except (OSError, ValueError):
        return ""


def _passwords(address: str) -> Iterator[str]:
    try:
        password = urlsplit(address).password
    except ValueError:
        return
    if password:
        yield password
        yield unquote(password)
