"""People, the teams they work in, the links that let them in once, and the record of who did what."""

import hashlib
import secrets
from datetime import timedelta
from typing import ClassVar

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone

LINK_LIFETIME = timedelta(minutes=30)
INVITE_LIFETIME = timedelta(days=7)


class User(AbstractUser):
    """`is_staff` is the installation's administrator. A quota that is None is the installation's own."""

    only_looks = models.BooleanField(default=False)
    most_machines = models.PositiveIntegerField(null=True, blank=True)
    most_tasks = models.PositiveIntegerField(null=True, blank=True)
    most_disk = models.PositiveBigIntegerField(null=True, blank=True)

    @property
    def role(self) -> "Role":
        if self.is_staff:
            return Role.ADMIN
        return Role.VIEWER if self.only_looks else Role.OPERATOR

    @role.setter
    def role(self, role: str) -> None:
        self.is_staff, self.only_looks = role == Role.ADMIN, role == Role.VIEWER


class Role(models.TextChoices):
    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"


class Team(models.Model):
    """Whatever its members own is seen by all of them; what each may do with it is their role here."""

    name = models.CharField(max_length=60, unique=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Team"]] = models.Manager()

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """Counts once the person has agreed to it: it shows what they own to the others."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships")
    person = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)
    agreed = models.BooleanField(default=False)

    objects: ClassVar[models.Manager["Membership"]] = models.Manager()

    class Meta:
        ordering = ("person__username",)
        constraints = (models.UniqueConstraint(fields=["team", "person"], name="once_in_a_team"),)

    def __str__(self) -> str:
        return f"{self.person} in {self.team}"


class AuditEntry(models.Model):
    """Who did what to which thing, from where, and how it ended. Append-only, and without any secret.

    `name` outlives the person. `what` is the name of an address, or a word for what has none.
    """

    class Outcome(models.TextChoices):
        DONE = "done"
        REFUSED = "refused"
        FAILED = "failed"

    at = models.DateTimeField(default=timezone.now, db_index=True)
    person = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="audit_entries")
    name = models.CharField(max_length=150, blank=True)
    what = models.CharField(max_length=60, db_index=True)
    kind = models.CharField(max_length=30, blank=True)
    thing = models.CharField(max_length=80, blank=True)
    note = models.CharField(max_length=200, blank=True)
    address = models.GenericIPAddressField(null=True)
    outcome = models.CharField(max_length=10, choices=Outcome.choices)

    objects: ClassVar[models.Manager["AuditEntry"]] = models.Manager()

    class Meta:
        ordering = ("-pk",)
        indexes = (models.Index(fields=["person", "-id"]), models.Index(fields=["thing", "-id"]))

    def __str__(self) -> str:
        return f"{self.name} {self.what} {self.thing} {self.outcome}"


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
    def issue(cls, user: User, lifetime: timedelta = LINK_LIFETIME) -> str:
        token = secrets.token_urlsafe(32)
        cls.objects.filter(expires_at__lt=timezone.now()).delete()
        cls.objects.create(token_hash=hashed(token), user=user, expires_at=timezone.now() + lifetime)
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
