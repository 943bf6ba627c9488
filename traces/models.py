"""Traces as rows. Events are only ever added; an action's row is also moved along, once each way, until it has an end.

                                 ┌─▶ done        it happened
    planned ─────▶ intent ───────┼─▶ uncertain   it was begun, and nobody knows whether it happened
       │                         │
       └─────────────────────────┴─▶ refused     it was not carried out

A planned action without an intent was never begun, so whoever takes over a branch may carry it out; one that has an
intent may have happened. Only `ledger.py` writes.
"""

import json
from typing import TYPE_CHECKING, Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from . import events
from .errors import Closed
from .ids import new_id

if TYPE_CHECKING:
    _TextField = models.TextField[Any, Any]
else:
    _TextField = models.TextField


class ExactJSON(_TextField):
    """Comes back as it went in, on every database: the order of keys, NUL, and halves of surrogate pairs."""

    def from_db_value(self, value: str | None, *_: object) -> Any:
        return None if value is None else json.loads(value)

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else json.dumps(value, separators=(",", ":"))


class Trace(models.Model):
    """`meta` repeats what a page must show, so that a trace needs nobody else. `state` mirrors that of its run.

    `next_seq` numbers the events. `revision` counts what was written, the ends of actions too: a page asks for what
    came after the revision it knows.
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
