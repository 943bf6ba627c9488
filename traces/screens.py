"""What was read on the pictures of traces."""

from collections.abc import Iterable, Sequence

from django.db import IntegrityError, transaction
from django.db.models import Max

from .models import Blob, Event, ScreenText
from .payloads import Sha256
from .redact import Redactor

Spot = tuple[str, int, int, int, int]
"""A text, with its x, y, width and height."""


def screen_text(sha256: str) -> ScreenText | None:
    """None when nobody has read it yet; one without text was read in vain."""
    return ScreenText.objects.filter(pk=sha256).first()


def texts_of(pictures: Iterable[str]) -> dict[str, str]:
    """Of those that were read."""
    return dict(ScreenText.objects.filter(pk__in=set(pictures)).values_list("pk", "text"))


def unread(trace_id: str) -> list[Sha256]:
    """The screens of the trace that nobody has read yet, the newest first."""
    newest: dict[str, int] = {}
    for side in ("before", "after"):
        events = Event.objects.filter(trace=trace_id).exclude(**{side: ""}).order_by()
        fresh = events.exclude(**{f"{side}__in": ScreenText.objects.values("pk")})
        for sha256, seq in fresh.values_list(side).annotate(last=Max("seq")):
            newest[sha256] = max(seq, newest.get(sha256, 0))
    return [Sha256(sha256) for sha256 in sorted(newest, key=newest.__getitem__, reverse=True)]


def store_read(sha256: Sha256, spots: Sequence[Spot], redactor: Redactor | None = None) -> None:
    """Without known secrets. Harmless for a picture that is gone by now."""
    clean = redactor or Redactor(())
    shown = [(clean.text(spot[0]).replace("\0", " "), *spot[1:]) for spot in spots]
    text = "\n".join(spot[0] for spot in shown)
    try:
        with transaction.atomic():
            blob = Blob.objects.select_for_update().filter(pk=sha256).first()
            if blob is not None:
                ScreenText.objects.update_or_create(blob=blob, defaults={"text": text, "spots": shown})
    except IntegrityError:
        return
