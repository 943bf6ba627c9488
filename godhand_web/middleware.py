"""What every answer carries besides its body."""

from collections.abc import Callable
from urllib.parse import urlsplit

from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse

POLICY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src {connect}; object-src 'none'; base-uri 'none'; frame-ancestors 'self'; form-action 'self'"
)


def gate_url(request: HttpRequest) -> str:
    """Where the browser that asked finds the gate: beside this page unless GODHAND_GATE_URL says otherwise."""
    if settings.GATE_URL:
        return str(settings.GATE_URL).rstrip("/")
    host = urlsplit(f"//{request.get_host()}").hostname or "localhost"
    scheme = "wss" if request.is_secure() else "ws"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{settings.GATE_PORT}"


class ContentSecurityPolicy:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY.format(connect=self.sources(request)))
        return response

    def sources(self, request: HttpRequest) -> str:
        try:
            gate = urlsplit(gate_url(request))
        except DisallowedHost:
            return "'self'"
        return f"'self' {gate.scheme}://{gate.netloc}"
