"""Known secrets are hidden before anything is stored."""

import base64
import html
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote, quote_plus

from .payloads import Json

HIDDEN = "[hidden]"
SHORTEST = 6
LONG_LINE = 16
"""A line of a key in several lines is known by itself; the first and the last are the same in all keys."""

ODD = "surrogatepass"


class Redactor:
    """Finds each secret as it is, quoted for a URL, inside base64, and escaped for HTML, JSON, and JSON in JSON.

    Secrets of fewer than six characters are let through: they would hide ordinary words. `hidden` counts what was.
    One of the `named` leaves its name in its place, as it is typed by name, wherever it stood as it is.
    """

    def __init__(self, secrets: Sequence[str], named: Mapping[str, str] | None = None) -> None:
        self._names = {secret.strip(): placeholder(name) for name, secret in (named or {}).items()}
        known = [secret.strip() for secret in (*secrets, *self._names) if len(secret.strip()) >= SHORTEST]
        forms = {form for secret in known for form in _forms(secret)}
        longest_first = sorted(forms, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if forms else None
        self.hidden = 0

    @property
    def knows_any(self) -> bool:
        return self._pattern is not None

    def text(self, text: str) -> str:
        if self._pattern is None:
            return text
        clean, count = self._pattern.subn(self._instead, text)
        self.hidden += count
        return clean

    def json(self, value: Json) -> Json:
        """A copy; keys are looked at too."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.json(key): self.json(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.json(item) for item in value]
        return value

    def _instead(self, found: re.Match[str]) -> str:
        return self._names.get(found[0], HIDDEN)


def placeholder(name: str) -> str:
    """How a secret that has a name is written where it must not stand."""
    return f"{{{{{name}}}}}"


def _forms(secret: str) -> Iterator[str]:
    yield from _quoted_forms(secret)
    yield from (line for line in map(str.strip, secret.splitlines()[1:-1]) if len(line) >= LONG_LINE)


def _quoted_forms(secret: str) -> Iterator[str]:
    yield secret
    for quoted in (quote(secret, "", errors=ODD), quote(secret, errors=ODD), quote_plus(secret, errors=ODD)):
        yield quoted
        yield re.sub("%..", lambda escape: escape[0].lower(), quoted)
    for escaped in (_escaped(secret, True), _escaped(secret, False)):
        yield escaped
        yield _escaped(escaped, True)
    yield html.escape(secret)
    yield from _base64_forms(secret.encode(errors=ODD))


def _escaped(text: str, ensure_ascii: bool) -> str:
    return json.dumps(text, ensure_ascii=ensure_ascii)[1:-1]


def _base64_forms(secret: bytes) -> Iterator[str]:
    """What every base64 text with the secret in it contains: the characters that depend on no other byte."""
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + secret).decode()
        first = -(-8 * offset // 6)
        whole = encoded[first : 8 * (offset + len(secret)) // 6]
        yield whole
        yield whole.replace("+", "-").replace("/", "_")
