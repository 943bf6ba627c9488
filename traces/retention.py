"""How much room traces take, and which of them get too old."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, QuerySet, Sum
from django.utils import timezone
from django.utils.module_loading import import_string

from . import audit, shares
from .lifecycle import Person
from .models import Blob, Reference, Share, Trace

What = Literal["trace", "pictures", "link"]


@dataclass(frozen=True)
class Space:
    """Bytes: `own` would be free without the trace, `shared` are needed by others too."""

    own: int = 0
    shared: int = 0

    @property
    def total(self) -> int:
        return self.own + self.shared


@dataclass(frozen=True)
class Policy:
    """After how many days what has ended goes; 0 is never. What is kept never goes, nor what an open link shows."""

    traces: int = 0
    pictures: int = 0

    @classmethod
    def of_settings(cls) -> "Policy":
        """As somebody has chosen, else as the installation says."""
        return cls.chosen(*import_string(settings.RETENTION)())

    @classmethod
    def chosen(cls, traces: int | None, pictures: int | None) -> "Policy":
        """Where nothing is chosen, it is as the installation says."""
        return cls(
            settings.TRACE_DAYS if traces is None else traces,
            settings.PICTURE_DAYS if pictures is None else pictures,
        )


@dataclass(frozen=True)
class Going:
    """Something too old. `size` is what its end gives back, whatever else goes."""

    trace: Trace
    what: What
    size: int


def used_by(owner: Person) -> int:
    """Bytes of a person's traces, each counted once."""
    mine = Reference.objects.filter(trace__owner=owner.pk, blob=OuterRef("pk"))
    return _sum(Blob.objects.filter(Exists(mine)))


def spaces(traces: Iterable[str]) -> dict[str, Space]:
    """Of each of these traces. A blob that another trace names as well, a copy for a link too, is shared."""
    wanted = list(traces)
    named = Reference.objects.filter(trace__in=wanted)
    total = dict(named.values_list("trace").annotate(size=Sum("blob__size")))
    own = dict(named.filter(blob__in=_lonely()).values_list("trace").annotate(size=Sum("blob__size")))
    return {trace: Space(own.get(trace, 0), total.get(trace, 0) - own.get(trace, 0)) for trace in wanted}


def freed_by(traces: Iterable[str]) -> int:
    """What is given back when all of these go."""
    wanted = list(traces)
    others = Reference.objects.filter(blob=OuterRef("pk")).exclude(trace__in=wanted)
    named = Reference.objects.filter(blob=OuterRef("pk"), trace__in=wanted)
    return _sum(Blob.objects.filter(Exists(named), ~Exists(others)))


def going(policy: Policy, owner: Person | None = None, *, now: datetime | None = None) -> list[Going]:
    """What the next sweep takes, the oldest first. Nothing is changed."""
    found = [*_too_old(policy, now or timezone.now()), *((copy, "link") for copy in shares.leftover())]
    mine = [(trace, what) for trace, what in found if owner is None or trace.owner_id == owner.pk]
    sizes = spaces(trace.pk for trace, _ in mine)
    return [Going(trace, what, sizes[trace.pk].own) for trace, what in mine]


def sweep(policy: Policy, delete: Callable[[Trace], object], *, now: datetime | None = None) -> list[Going]:
    """Take it. `delete` takes a trace with all that belongs to it; what it cannot take, it leaves."""
    gone = going(policy, now=now)
    for each in gone:
        if each.what == "pictures":
            drop_pictures(each.trace)
        elif each.what == "trace":
            delete(each.trace)
        else:
            each.trace.delete()
    return gone


def keep(trace: Trace, wanted: bool) -> None:
    Trace.objects.filter(pk=trace.pk).update(kept=wanted)
    audit.tell("trace_kept" if wanted else "trace_not_kept", trace=trace.pk)


def drop_pictures(trace: Trace) -> None:
    """The story stays, and says since when it is without pictures."""
    with transaction.atomic():
        pictures = Reference.objects.filter(trace=trace, blob__width__isnull=False)
        size = pictures.aggregate(size=Sum("blob__size"))["size"] or 0
        pictures.delete()
        meta = {**trace.meta, "pictures_gone": timezone.now().date().isoformat()}
        Trace.objects.filter(pk=trace.pk).update(meta=meta, bytes=F("bytes") - size)
    audit.tell("pictures_deleted", trace=trace.pk, bytes=size)


def _too_old(policy: Policy, now: datetime) -> Iterator[tuple[Trace, What]]:
    seen = Share.objects.filter(source=OuterRef("pk"), revoked_at=None, expires_at__gt=now)
    loose = Trace.objects.filter(~Exists(seen), copy_of="", kept=False, ended_at__isnull=False).order_by("ended_at")
    gone: set[str] = set()
    if policy.traces:
        for trace in loose.filter(ended_at__lt=now - timedelta(days=policy.traces)):
            gone.add(trace.pk)
            yield trace, "trace"
    if policy.pictures:
        pictures = Reference.objects.filter(trace=OuterRef("pk"), blob__width__isnull=False)
        old = loose.filter(Exists(pictures), ended_at__lt=now - timedelta(days=policy.pictures))
        yield from ((trace, "pictures") for trace in old if trace.pk not in gone)


def _lonely() -> QuerySet[Reference, str]:
    """Blobs that one trace alone names."""
    counted = Reference.objects.values("blob").annotate(traces=Count("pk")).filter(traces=1)
    return counted.values_list("blob", flat=True)


def _sum(blobs: QuerySet[Blob]) -> int:
    return blobs.aggregate(size=Sum("size"))["size"] or 0
