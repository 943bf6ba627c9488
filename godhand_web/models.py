"""People, and the links that let them in once."""

import hashlib
import secrets
from datetime import timedelta
from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone

LINK_LIFETIME = timedelta(minutes=30)


class User(AbstractUser):
    pass


def hashed(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


class LoginLink(models.Model):
    """Opens one session. Only the hash is stored, so a copied database lets nobody in."""

    token_hash = models.CharField(max_length=64, primary_key=True)
    user = models.ForeignKey(User, on_delete=models.CASCADE)
    expires_at = models.DateTimeField()

    objects: ClassVar[models.Manager["LoginLink"]] = models.Manager()

    def __str__(self) -> str:
        return f"link for {self.user.get_username()}"

    @classmethod
    def issue(cls, user: User) -> str:
        token = secrets.token_urlsafe(32)
        cls.objects.filter(expires_at__lt=timezone.now()).delete()
        cls.objects.create(token_hash=hashed(token), user=user, expires_at=timezone.now() + LINK_LIFETIME)
        return token

    @classmethod
    def redeem(cls, token: str) -> User | None:
        """The person, the first time; nobody ever after. Two clicks at once let one in."""
        link = (
            cls.objects.filter(token_hash=hashed(token), expires_at__gt=timezone.now()).select_related("user").first()
        )
        if link is None or not cls.objects.filter(pk=link.pk).delete()[0]:
            return None
        return link.user if link.user.is_active else None
