"""Where this installation keeps its blobs, and which of them are still wanted."""

from datetime import timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef
from django.utils import timezone
from django.utils.module_loading import import_string

from .blobs import GRACE, BlobStore, Swept
from .models import Blob, Reference


def default_store() -> BlobStore:
    return BlobStore(settings.HOST.home / "blobs")


def collect(store: BlobStore, grace: float = GRACE) -> Swept:
    """Remove the bytes that no trace names any more."""
    before = timezone.now() - timedelta(seconds=grace)
    named = Reference.objects.filter(blob=OuterRef("pk"))
    loose = Blob.objects.filter(~Exists(named), used_at__lt=before)
    if held := import_string(settings.BLOBS_HELD)():
        loose = loose.exclude(pk__in=held)
    loose.delete()
    return store.sweep(set(Blob.objects.values_list("pk", flat=True)), grace)
