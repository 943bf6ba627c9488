"""The beginning and the end of a trace; what is between them is the recorder's."""

from typing import Any, Protocol

from django.db import transaction
from django.utils import timezone

from . import publish
from .drafts import plain
from .models import Trace
from .payloads import Json
from .redact import Redactor


class Person(Protocol):
    pk: Any


def begin(owner: Person, *, title: str, meta: Json, redactor: Redactor | None = None) -> Trace:
    """An empty trace. `meta` is all that a page shows of the task, its model and its machine."""
    clean = redactor or Redactor(())
    return Trace.objects.create(owner_id=owner.pk, title=plain(clean.text(title), 200), meta=clean.json(meta))


def mark(trace_id: str, state: str, *, ended: bool = False) -> None:
    """Mirror the state of the run."""
    with transaction.atomic():
        trace = Trace.objects.filter(pk=trace_id)
        trace.update(state=state, ended_at=timezone.now() if ended else None)
        touch(trace_id)


def touch(trace_id: str) -> None:
    """Something beside the trace has changed: whoever looks at it looks again."""
    for next_seq in Trace.objects.filter(pk=trace_id).values_list("next_seq", flat=True):
        publish.trace_changed(trace_id, next_seq - 1)
