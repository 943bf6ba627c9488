"""How django-allauth behaves here: nobody signs up, no mail is sent, and what it keeps secret is sealed."""

import base64
import secrets
import time
from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from django.conf import settings
from django.http import HttpRequest

from agents import vault
from agents.errors import AgentError

NOWHERE = "0.0.0.0"


class Accounts(DefaultAccountAdapter):  # type: ignore[misc]
    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": "Name and password do not match.",
        "too_many_login_attempts": "These were too many tries. Wait five minutes, then try again.",
        "rate_limited": "These were too many tries. Wait five minutes, then try again.",
        "incorrect_password": "That is not your password.",
        "enter_current_password": "That is not your password.",
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def get_client_ip(self, request: HttpRequest) -> str:
        return str(request.META.get("REMOTE_ADDR") or NOWHERE)

    def is_reauthentication_required(self, *, app: str, **_: Any) -> bool:
        """Who came in just now has proved enough."""
        request = context.request
        records = get_authentication_records(request, request.user)
        return all(time.time() - record["at"] > settings.ACCOUNT_REAUTHENTICATION_TIMEOUT for record in records)


class Factors(DefaultMFAAdapter):  # type: ignore[misc]
    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": "That did not match. Try once more, with a fresh code if you typed one.",
    }

    def encrypt(self, text: str) -> str:
        return vault.seal(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Sealed with another key it is worth nothing: then a random one, which no code matches."""
        try:
            return str(vault.unseal(encrypted_text))
        except AgentError:
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def generate_authenticator_name(self, user: Any, type: Any) -> str:  # noqa: A002
        return "Passkey"
