"""Machines as rows. Only `lifecycle.py` changes a state.

             ┌──────────────── resumed ─────────────────┐
             ▼                                          │
          queued ─▶ provisioning ─▶ booting ─▶ ready ─▶ stopping ─▶ stopped
             │           │             │         │          │          │
             └───────────┴──────┬──────┘         ├─▶ lost   │          │
                                ▼                ▼          ▼          ▼
                             failed           destroying ─▶ destroyed

failed: it never became ready; one that was being resumed is stopped again instead. lost: it was ready and its processes
are gone. stopped: saved whole, and off the host. Whatever has not ended can be destroyed.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from .ids import new_id


class State(models.TextChoices):
    QUEUED = "queued"
    PROVISIONING = "provisioning"
    BOOTING = "booting"
    READY = "ready"
    STOPPING = "stopping"
    STOPPED = "stopped"
    DESTROYING = "destroying"
    DESTROYED = "destroyed"
    FAILED = "failed"
    LOST = "lost"


PENDING = (State.QUEUED, State.PROVISIONING, State.BOOTING)
ON_HOST = (State.PROVISIONING, State.BOOTING, State.READY, State.STOPPING, State.DESTROYING)
ENDED = (State.DESTROYED, State.FAILED, State.LOST)
LEAVING = (State.STOPPING, State.DESTROYING)
OFF_HOST = (*ENDED, State.STOPPED)
"""Take nothing of the host but the room on its disk."""


class Snapshot(models.Model):
    """A saved machine on its host's disk. `parent` is the snapshot that the saved machine was itself made from."""

    id = models.CharField(primary_key=True, max_length=12)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="snapshots")
    machine = models.ForeignKey("Machine", null=True, on_delete=models.SET_NULL, related_name="snapshots")
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="children")
    label = models.CharField(max_length=100)
    backend = models.CharField(max_length=20)
    image = models.CharField(max_length=40)
    image_digest = models.CharField(max_length=64)
    host = models.CharField(max_length=100)
    keeps = models.CharField(max_length=20)
    size = models.BigIntegerField()
    made_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Snapshot"]] = models.Manager()

    class Meta:
        ordering = ("made_at",)

    def __str__(self) -> str:
        return self.label


class Machine(models.Model):
    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    name = models.CharField(max_length=60)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="machines")
    backend = models.CharField(max_length=20)
    image = models.CharField(max_length=40)
    image_digest = models.CharField(max_length=64, blank=True)
    host = models.CharField(max_length=100)
    state = models.CharField(max_length=20, choices=State.choices, default=State.QUEUED)
    state_since = models.DateTimeField(default=timezone.now)
    detail = models.CharField(max_length=400, blank=True)
    handle = models.JSONField(default=dict, blank=True)
    network = models.JSONField(default=dict, blank=True)
    limits = models.JSONField(default=dict, blank=True)
    made_from = models.ForeignKey(Snapshot, null=True, on_delete=models.PROTECT, related_name="machines")
    last_used_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Machine"]] = models.Manager()

    class Meta:
        ordering = ("-created_at",)
        indexes = (
            models.Index(fields=["state"]),
            models.Index(fields=["owner", "-created_at"]),
            models.Index(fields=["-created_at"]),
            models.Index(fields=["image", "state"]),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def pending(self) -> bool:
        return self.state in PENDING

    @property
    def ended(self) -> bool:
        return self.state in ENDED


class Spare(models.Model):
    """A machine that waits for an owner; without a handle it is being made. Only `pool.py` writes them."""

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    backend = models.CharField(max_length=20)
    image = models.CharField(max_length=40)
    image_digest = models.CharField(max_length=64)
    host = models.CharField(max_length=100)
    handle = models.JSONField(default=dict, blank=True)
    made_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Spare"]] = models.Manager()

    class Meta:
        ordering = ("made_at",)

    def __str__(self) -> str:
        return self.id


class Tag(models.Model):
    """A word that somebody files a machine under. `tagging.py` writes them."""

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="tags")
    name = models.CharField(max_length=40)

    objects: ClassVar[models.Manager["Tag"]] = models.Manager()

    class Meta:
        ordering = ("name",)
        constraints = (models.UniqueConstraint(fields=["machine", "name"], name="one_tag_of_a_name"),)
        indexes = (models.Index(fields=["name", "machine"]),)

    def __str__(self) -> str:
        return self.name


class Event(models.Model):
    """What happened to a machine, in order. Append-only; pages fetch what follows the last number they know."""

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="events")
    at = models.DateTimeField(default=timezone.now)
    state = models.CharField(max_length=20, choices=State.choices)
    text = models.CharField(max_length=400)

    objects: ClassVar[models.Manager["Event"]] = models.Manager()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.text


class Screenshot(models.Model):
    """A picture of a desktop that somebody wanted to keep. The bytes are in a file named by their hash."""

    machine = models.ForeignKey(Machine, on_delete=models.CASCADE, related_name="screenshots")
    sha256 = models.CharField(max_length=64)
    label = models.CharField(max_length=200)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    click_x = models.PositiveIntegerField(null=True, blank=True)
    click_y = models.PositiveIntegerField(null=True, blank=True)
    taken_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Screenshot"]] = models.Manager()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.label


class Lease(models.Model):
    """Who may drive a machine: nobody, `agent`, or `user:<id>`. Only `lease.py` changes it.

    `epoch` grows with every change of the holder, and whatever is sent to the machine is sent under one. `seen_at` is
    when a person's page was last heard of; `asker` wants to have it from the person who drives.
    """

    machine = models.OneToOneField(Machine, primary_key=True, on_delete=models.CASCADE, related_name="lease")
    holder = models.CharField(max_length=40, blank=True)
    epoch = models.PositiveBigIntegerField(default=0)
    since = models.DateTimeField(default=timezone.now)
    expires = models.DateTimeField(null=True, blank=True)
    seen_at = models.DateTimeField(null=True, blank=True)
    asker = models.CharField(max_length=40, blank=True)
    asked_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager["Lease"]] = models.Manager()

    class Meta:
        indexes = (models.Index(fields=["expires"]),)

    def __str__(self) -> str:
        return f"{self.machine_id} {self.holder or 'nobody'} {self.epoch}"
