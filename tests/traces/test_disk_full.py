import pytest
from django.db import connection

from traces.errors import DiskFull
from traces.events import Actor, Recorder
from traces.models import Event, Trace

from .conftest import RecorderOf

pytestmark = pytest.mark.django_db(transaction=True)


def no_room() -> None:
    """Have the database itself find that its disk is full."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("DO $$ BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = '53100'; END $$")
        else:
            cursor.execute("PRAGMA max_page_count = 1")


def room_again() -> None:
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA max_page_count = 1073741823")


@pytest.mark.usefixtures("redis_url")
def test_it_pauses_whole_when_the_database_has_no_room(
    recorder: Recorder, recorder_of: RecorderOf, trace: Trace
) -> None:
    root = recorder.message(Actor.HUMAN, "Make a chart", turn=0)
    full = recorder_of(head=root, guard=no_room)
    try:
        with pytest.raises(DiskFull, match="The database has no room left"):
            full.message(Actor.HUMAN, "x" * 1_000_000, turn=0)
    finally:
        room_again()
    trace.refresh_from_db()
    assert (Event.objects.count(), trace.next_seq, full.head) == (1, 2, root)
    recorder.message(Actor.HUMAN, "x" * 1_000_000, turn=0)
    assert Event.objects.count() == 2
