"""What a browser gets for the token of a link: a signed cookie that is sent to the pages of that link alone."""

from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from traces.models import Share

SALT = "godhand.share"


def cookie_of(share_id: str) -> str:
    return f"godhand-{settings.PORT}-share-{share_id}"


def give(response: HttpResponse, share: Share) -> None:
    """Until the link expires. Nothing in it is worth more than the link."""
    response.set_cookie(
        cookie_of(share.pk),
        signing.dumps(_words(share), salt=SALT),
        max_age=share.expires_at - timezone.now(),
        path=reverse("shared", args=[share.pk]),
        secure=bool(settings.SESSION_COOKIE_SECURE),
        httponly=True,
        samesite="Lax",
    )


def holds(request: HttpRequest, share: Share) -> bool:
    try:
        words = signing.loads(request.COOKIES.get(cookie_of(share.pk), ""), salt=SALT)
    except signing.BadSignature:
        return False
    return constant_time_compare(str(words), str(_words(share)))


def _words(share: Share) -> Any:
    return [share.pk, share.token_hash]
