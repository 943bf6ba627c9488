"""What all services have in common: a key that stays secret, failures of the SDKs, answers that broke off.

The SDKs of Anthropic and OpenAI are made by one generator: their exceptions have the same fields.
"""

import email.utils
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ..errors import ProviderError
from ..turns import Reply

WORTH_ANOTHER_TRY = {408, 409, 429}
NO_MONEY = "insufficient_quota"
MAX_DETAIL = 500


@dataclass(frozen=True)
class Service:
    """Raises ProviderError for an address that is none, and for a key that no header can carry."""

    name: str
    key_env: str
    key: str = field(repr=False)
    address: str

    def __post_init__(self) -> None:
        if not self.key or not self.key.isascii() or not self.key.isprintable() or " " in self.key:
            raise ProviderError(f"{self.key_env} does not hold a key: it is empty or has odd signs.", permanent=True)
        place = urlsplit(self.address)
        if place.scheme not in {"http", "https"} or not place.hostname:
            raise ProviderError("base_url is no address: it must begin with https:// or http://.", permanent=True)

    def ask(self, send: Callable[[], bytes], failures: type[Exception], read: Callable[[Any], Reply]) -> Reply:
        """Send once, and read what came. Raises ProviderError, which drags along nothing that knows the key."""
        body, problem = b"", None
        try:
            body = send()
        except failures as error:
            problem = self._problem(error)
        except ValueError:
            problem = ProviderError("The conversation holds something that no service can be sent.", permanent=True)
        if problem:
            raise problem
        try:
            answer = json.loads(body)
        except ValueError:
            raise ProviderError(f"{self.name}'s answer broke off before its end.", permanent=False) from None
        try:
            return read(answer)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError):
            raise ProviderError(f"{self.name} gave an answer that cannot be understood.", permanent=False) from None

    def cut_off(self, max_tokens: int) -> ProviderError:
        return ProviderError(
            f"The reply did not fit into {max_tokens} tokens and was cut off; raise max_tokens.", permanent=True
        )

    def too_long(self) -> ProviderError:
        return ProviderError(f"The conversation has grown too long for {self.name}'s model.", permanent=True)

    def declined(self, why: str) -> ProviderError:
        reason = self._clean(why or "no reason was given")
        return ProviderError(f"{self.name}'s model declined to go on: {reason}", permanent=True)

    def _problem(self, error: Any) -> ProviderError:
        status = getattr(error, "status_code", None)
        if status is None:
            return self._no_answer(error)
        detail = self._clean(_message(error.body) or error.message)
        if status == 401:
            return ProviderError(f"{self.name} refused the key in {self.key_env}: {detail}", permanent=True)
        final = _code(error.body) == NO_MONEY or not (status in WORTH_ANOTHER_TRY or status >= 500)
        retry_after = None if final else _retry_after(error.response.headers)
        return ProviderError(f"{self.name} answered {status}: {detail}", permanent=final, retry_after=retry_after)

    def _no_answer(self, error: Exception) -> ProviderError:
        if "Timeout" in type(error).__name__:
            return ProviderError(f"{self.name} did not answer in time.", permanent=False)
        return ProviderError(f"{self.name} could not be reached, or the connection broke.", permanent=False)

    def _clean(self, text: str) -> str:
        return text.replace(self.key, "…")[:MAX_DETAIL]


def _error(body: Any) -> Mapping[str, Any]:
    """The OpenAI SDK has unwrapped it already."""
    inner = body.get("error", body) if isinstance(body, Mapping) else {}
    return inner if isinstance(inner, Mapping) else {}


def _message(body: Any) -> str:
    return str(_error(body).get("message") or "")


def _code(body: Any) -> str:
    return str(_error(body).get("code") or _error(body).get("type") or "")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from either form of the header."""
    value = headers.get("retry-after")
    if not value:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        moment = email.utils.parsedate_tz(value)
    return max(0.0, email.utils.mktime_tz(moment) - time.time()) if moment else None
