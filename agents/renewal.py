"""What lasts only for a while, kept for as long as somebody works under it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import connection
from django.db.utils import DatabaseError


@contextmanager
def renewed(renew: Callable[[], bool], name: str) -> Iterator[None]:
    """Beside the work, in time for GODHAND_LEASE_SECONDS, until `renew` says that it is another's by now."""
    over = threading.Event()
    keeper = threading.Thread(target=_keep, args=(renew, over), name=name, daemon=True)
    keeper.start()
    try:
        yield
    finally:
        over.set()
        keeper.join()


def _keep(renew: Callable[[], bool], over: threading.Event) -> None:
    try:
        while not over.wait(settings.LEASE_SECONDS / 3):
            try:
                if not renew():
                    return
            except DatabaseError:
                continue
    finally:
        connection.close()
