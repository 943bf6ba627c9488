"""Who chooses between the branches of a run: one at a time, and soon another when that one has died."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from .models import Run
from .renewal import renewed


@dataclass
class Turn:
    """Good for GODHAND_LEASE_SECONDS from its last renewal. The row's `choosing_until` says whose it is."""

    run_id: str
    until: datetime

    def renew(self) -> bool:
        """False when another has it by now."""
        until = _soon()
        renewed = self._mine().update(choosing_until=until)
        self.until = until if renewed else self.until
        return bool(renewed)

    def decide(self, **columns: Any) -> bool:
        """False when another chooses by now, or a person has: then nothing is written."""
        return bool(self._mine().filter(chosen_by=None).update(**columns))

    def release(self) -> None:
        self._mine().update(choosing_until=timezone.now())

    def kept(self) -> AbstractContextManager[None]:
        """Renewed beside the work. Nobody else may use it meanwhile."""
        return renewed(self.renew, f"choice {self.run_id}")

    def _mine(self) -> QuerySet[Run]:
        return Run.objects.filter(pk=self.run_id, choosing_until=self.until)


@contextmanager
def turn_of(run_id: str) -> Iterator[Turn | None]:
    """None while another chooses."""
    until = _soon()
    if not Run.objects.filter(pk=run_id, choosing_until__lte=timezone.now()).update(choosing_until=until):
        yield None
        return
    turn = Turn(run_id, until)
    try:
        yield turn
    finally:
        turn.release()


def _soon() -> datetime:
    return timezone.now() + timedelta(seconds=settings.LEASE_SECONDS)
