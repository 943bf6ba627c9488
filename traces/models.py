"""Traces as rows. Events are only ever added; an action's row is also moved along, once each way, until it has an end.

                                 ┌─▶ done        it happened
    planned ─────▶ intent ───────┼─▶ uncertain   it was begun, and nobody knows whether it happened
       │                         │
       └─────────────────────────┴─▶ refused     it was not carried out

A planned action without an intent was never begun, so whoever takes over a branch may carry it out; one that has an
intent may have happened. Only `ledger.py` writes.
"""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from . import events
from .errors import Closed
from .fields import ExactJSON
from .ids import new_id


class Trace(models.Model):
    """`meta` repeats what a page must show, so that a trace needs nobody else. `state` mirrors that of its run.

    `next_seq` numbers the events. `revision` counts what was written, the ends of actions too: a page asks for what
    came after the revision it knows. A `copy_of` another was made for a link, and is in no list. What is `kept` never
    gets too old.
    """

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="traces")
    title = models.CharField(max_length=200)
    version = models.PositiveSmallIntegerField(default=events.VERSION)
    meta = ExactJSON(default=dict)
    state = models.CharField(max_length=20, blank=True)
    next_seq = models.PositiveBigIntegerField(default=1)
    revision = models.PositiveBigIntegerField(default=0)
    steps = models.PositiveIntegerField(default=0)
    tokens = models.PositiveBigIntegerField(default=0)
    cost = models.FloatField(default=0)
    bytes = models.PositiveBigIntegerField(default=0)
    copy_of = models.CharField(max_length=12, blank=True)
    kept = models.BooleanField(default=False)
    created_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager["Trace"]] = models.Manager()

    class Meta:
        ordering = ("-created_at",)
        indexes = (models.Index(fields=["owner", "-created_at"]),)

    def __str__(self) -> str:
        return self.title


class Event(models.Model):
    """`data` is written with the row, `act` and `op_id` with an action's intent, `result` with its end.

    `raw` is the reply as its provider understands it. `mono_ms` is the host's clock that never jumps.
    """

    id = models.BigAutoField(primary_key=True)
    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="events", db_index=False)
    seq = models.PositiveBigIntegerField()
    revision = models.PositiveBigIntegerField()
    branch = models.CharField(max_length=40)
    parent = models.ForeignKey("self", null=True, on_delete=models.DO_NOTHING, related_name="children", db_index=False)
    actor = models.CharField(max_length=10)
    kind = models.CharField(max_length=12)
    turn = models.PositiveIntegerField()
    name = models.CharField(max_length=100, blank=True)
    data = ExactJSON()
    fate = models.CharField(max_length=10, blank=True)
    ok = models.BooleanField(null=True)
    op_id = models.CharField(max_length=64, blank=True)
    act = ExactJSON(null=True)
    result = ExactJSON(null=True)
    raw = ExactJSON(null=True)
    before = models.CharField(max_length=64, blank=True)
    after = models.CharField(max_length=64, blank=True)
    tokens = models.PositiveBigIntegerField(default=0)
    cost = models.FloatField(default=0)
    hidden = models.PositiveIntegerField(default=0)
    started_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    mono_ms = models.BigIntegerField()

    objects: ClassVar[models.Manager["Event"]] = models.Manager()

    class Meta:
        ordering = ("seq",)
        indexes = (models.Index(fields=["trace", "branch", "seq"]),)
        constraints = (
            models.UniqueConstraint(fields=["trace", "seq"], name="traces_one_event_per_seq"),
            models.UniqueConstraint(fields=["trace", "revision"], name="traces_one_event_per_revision"),
            models.UniqueConstraint(fields=["trace"], condition=Q(parent=None), name="traces_one_root"),
            models.UniqueConstraint(fields=["parent", "branch"], name="traces_a_branch_is_a_line"),
        )

    def __str__(self) -> str:
        return f"{self.seq} {self.kind} {self.name}".rstrip()

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise Closed("An event is never edited.")
        super().save(*args, **kwargs)


class Blob(models.Model):
    """Bytes in a file named by their hash, shared by all traces. `used_at` is when they were last given."""

    sha256 = models.CharField(primary_key=True, max_length=64)
    media_type = models.CharField(max_length=100)
    size = models.PositiveBigIntegerField()
    width = models.PositiveIntegerField(null=True)
    height = models.PositiveIntegerField(null=True)
    used_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Blob"]] = models.Manager()

    def __str__(self) -> str:
        return self.sha256


class Reference(models.Model):
    """An event of the trace names the blob. A blob without any is swept away."""

    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="references", db_index=False)
    blob = models.ForeignKey(Blob, on_delete=models.DO_NOTHING, related_name="references")

    objects: ClassVar[models.Manager["Reference"]] = models.Manager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=["trace", "blob"], name="traces_one_reference"),)

    def __str__(self) -> str:
        return f"{self.trace_id} {self.blob_id}"


class ScreenText(models.Model):
    """What was read on a picture, and where: each spot is a text with its x, y, width and height."""

    blob = models.OneToOneField(Blob, primary_key=True, on_delete=models.CASCADE, related_name="screen_text")
    text = models.TextField()
    spots = ExactJSON(default=list)

    objects: ClassVar[models.Manager["ScreenText"]] = models.Manager()

    def __str__(self) -> str:
        return self.text[:80]


class Words(models.Model):
    """What a step is found by; made from its event at `revision`, and again when that has moved on.

    `picture` is the one that shows the step, `verb` is what was done, `status` how that went. `text` is in lower case.
    """

    event = models.OneToOneField(Event, primary_key=True, on_delete=models.CASCADE, related_name="words")
    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="+", db_index=False)
    revision = models.PositiveBigIntegerField()
    verb = models.CharField(max_length=100)
    status = models.CharField(max_length=10)
    picture = models.CharField(max_length=64, blank=True)
    text = models.TextField()

    objects: ClassVar[models.Manager["Words"]] = models.Manager()

    class Meta:
        indexes = (models.Index(fields=["trace", "revision"]),)

    def __str__(self) -> str:
        return self.text[:80]


class Remark(models.Model):
    """What a person wrote beside a step. It is no part of the story, so it may be taken back."""

    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="remarks")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    text = models.TextField()
    at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["Remark"]] = models.Manager()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return self.text[:80]


class Share(models.Model):
    """A link to a redacted copy that never changes. Only the token's hash is stored.

    `steps` are those of the scope in words, and `report` says what was hidden in the copy. A live link has no copy: it
    shows the run itself, and ends with it. One that was not issued is a draft, which only its maker can open. Only
    `shares.py` writes.
    """

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="shares")
    source = models.ForeignKey(Trace, null=True, on_delete=models.SET_NULL, related_name="shares")
    copy = models.OneToOneField(Trace, null=True, on_delete=models.SET_NULL, related_name="share")
    token_hash = models.CharField(max_length=64, unique=True)
    scope = ExactJSON(default=dict)
    steps = models.CharField(max_length=60, blank=True)
    report = ExactJSON(default=dict)
    live = models.BooleanField(default=False)
    downloads = models.BooleanField(default=False)
    views = models.PositiveIntegerField(default=0)
    most_views = models.PositiveIntegerField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now)
    issued_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager["Share"]] = models.Manager()

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"link {self.pk} to {self.source_id}"


class JobState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Job(models.Model):
    """Work on a trace that takes a while: an export, an import, a copy for a link. Only `jobs.py` writes it.

    `result` is a file's name, or what was made. `attempt` counts the workers that have begun it: who is not the last
    has lost it. `beat_at` is when that one was last heard of.
    """

    id = models.CharField(primary_key=True, max_length=12, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="jobs")
    trace = models.ForeignKey(Trace, null=True, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=20)
    options = ExactJSON(default=dict)
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.QUEUED)
    attempt = models.PositiveSmallIntegerField(default=0)
    cancelled = models.BooleanField(default=False)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    detail = models.TextField(blank=True)
    result = models.CharField(max_length=300, blank=True)
    size = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now)
    beat_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager["Job"]] = models.Manager()

    class Meta:
        ordering = ("-created_at",)
        indexes = (models.Index(fields=["owner", "-created_at"]),)

    def __str__(self) -> str:
        return f"{self.kind} of {self.trace_id} ({self.state})"
