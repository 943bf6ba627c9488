"""Addresses of pages for somebody else, to be read elsewhere."""

from django.conf import settings
from django.http import HttpRequest


def for_others(request: HttpRequest, path: str) -> str:
    """As GODHAND_URL says, which knows of a proxy in front; without it, as whoever asked has called us."""
    return f"{settings.PUBLIC_URL}{path}" if settings.URL_IS_GIVEN else request.build_absolute_uri(path)
