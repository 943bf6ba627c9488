"""What stands until somebody takes it away: schedules of tasks, addresses that are told of runs, keys of models."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from sandboxes.ids import new_id


class Schedule(models.Model):
    """Runs a saved task again and again. Only `schedules.py` changes it.

    `wording` is what a person typed and `rule` what was understood, as `timing` stores it. `next_at` is None when it is
    paused, and when no moment comes any more. A schedule that was down at its time catches up once, or not at all.
    """

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="schedules")
    task = models.OneToOneField("agents.Task", on_delete=models.CASCADE, related_name="schedule")
    name = models.CharField(max_length=80)
    wording = models.TextField()
    rule = models.TextField()
    zone = models.CharField(max_length=60)
    runs = models.PositiveSmallIntegerField(default=1)
    catch_up = models.BooleanField(default=False)
    active = models.BooleanField(default=True)
    next_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Schedule"]] = models.Manager()

    class Meta:
        ordering = ("-active", models.F("next_at").asc(nulls_last=True), "name")
        indexes = (models.Index(fields=["active", "next_at"]),)

    def __str__(self) -> str:
        return self.name


class Firing(models.Model):
    """What became of a moment of a schedule. One that tells of missed ones stands for several: `times`."""

    class Outcome(models.TextChoices):
        STARTED = "started"
        CAUGHT_UP = "caught_up", "Caught up"
        BY_HAND = "by_hand", "Started by hand"
        SKIPPED = "skipped"
        MISSED = "missed"
        FAILED = "failed", "Could not start"

    schedule = models.ForeignKey(Schedule, on_delete=models.CASCADE, related_name="firings")
    outcome = models.CharField(max_length=10, choices=Outcome.choices)
    due_at = models.DateTimeField()
    at = models.DateTimeField(default=timezone.now)
    times = models.PositiveIntegerField(default=1)
    run = models.ForeignKey("agents.Run", null=True, on_delete=models.SET_NULL, related_name="firings")
    detail = models.TextField(blank=True)

    objects: ClassVar[models.Manager["Firing"]] = models.Manager()

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.schedule}: {self.outcome}"


class Webhook(models.Model):
    """An address that a person's runs are told to. `secret`, which signs, is sealed by `vault.py`."""

    owner = models.OneToOneField(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhook")
    url = models.TextField()
    secret = models.TextField()
    on_help = models.BooleanField(default=True)
    on_end = models.BooleanField(default=True)
    made_at = models.DateTimeField(default=timezone.now)
    looked_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Webhook"]] = models.Manager()

    def __str__(self) -> str:
        return f"webhook of {self.owner_id}"


class Notice(models.Model):
    """One thing to be told, once. `key` names it, so that whoever looks twice tells it once."""

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="notices")
    key = models.CharField(max_length=80)
    body = models.JSONField(default=dict)
    made_at = models.DateTimeField(default=timezone.now)
    tries = models.PositiveSmallIntegerField(default=0)
    try_at = models.DateTimeField(null=True, default=timezone.now)
    answer = models.CharField(max_length=200, blank=True)
    delivered = models.BooleanField(default=False)

    objects: ClassVar[models.Manager["Notice"]] = models.Manager()

    class Meta:
        ordering = ("-made_at",)
        indexes = (models.Index(fields=["try_at"]),)
        constraints = (models.UniqueConstraint(fields=["webhook", "key"], name="agents_one_notice_per_key"),)

    def __str__(self) -> str:
        return self.key


class Retention(models.Model):
    """After how many days traces and their pictures go, where an administrator has chosen it. There is one row."""

    traces = models.PositiveIntegerField(null=True)
    pictures = models.PositiveIntegerField(null=True)

    objects: ClassVar[models.Manager["Retention"]] = models.Manager()

    def __str__(self) -> str:
        return f"{self.traces} and {self.pictures} days"


class ModelKey(models.Model):
    """The key of a model's service, sealed by `vault.py`: written by an administrator, and never shown again."""

    name = models.CharField(primary_key=True, max_length=60)
    sealed = models.TextField()
    set_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    set_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["ModelKey"]] = models.Manager()

    def __str__(self) -> str:
        return self.name
