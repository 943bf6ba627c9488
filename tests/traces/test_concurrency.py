"""Several workers write branches of one trace at once."""

from collections.abc import Callable
from threading import Thread

import pytest
from django.db import connection

from traces.errors import Closed, Fenced
from traces.events import Actor, Recorder
from traces.models import Event, Trace

from .conftest import RecorderOf, call, plan, seen

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_url")]

WRITERS = 4
TURNS = 6


def at_once(*works: Callable[[], object]) -> list[BaseException]:
    """Run all, each on a connection of its own; what they raised."""
    raised: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            raised.append(error)
        finally:
            connection.close()

    threads = [Thread(target=run, args=[work]) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def live(recorder: Recorder) -> None:
    for turn in range(1, TURNS + 1):
        first, second = plan(recorder, call("click", 0), call("type", 1), turn=turn)
        recorder.intent(first, "op")
        recorder.uncertain(first, "It may have happened.", after=seen(recorder, "white"))
        recorder.refused(second, "No.")


def test_it_numbers_events_without_gaps_or_doubles(recorder_of: RecorderOf, trace: Trace) -> None:
    root = recorder_of().message(Actor.HUMAN, "Make a chart", turn=0)
    writers = [recorder_of(f"branch {number}", root) for number in range(WRITERS)]
    assert at_once(*(lambda writer=writer: live(writer) for writer in writers)) == []
    events = 1 + WRITERS * TURNS * 3
    trace.refresh_from_db()
    assert list(Event.objects.order_by("seq").values_list("seq", flat=True)) == list(range(1, events + 1))
    assert trace.next_seq == events + 1
    assert trace.revision == events + WRITERS * TURNS * 3 == Event.objects.latest("revision").revision
    assert (trace.steps, trace.tokens) == (WRITERS * TURNS, WRITERS * TURNS * 123)
    assert trace.bytes == trace.references.get().blob.size


def test_it_lets_one_of_many_end_an_action(recorder: Recorder, recorder_of: RecorderOf) -> None:
    (action,) = plan(recorder, call("click"))
    recorder.intent(action, "op")
    rivals = [recorder_of(head=recorder.head) for _ in range(WRITERS)]
    raised = at_once(*(lambda rival=rival: rival.uncertain(action, "?") for rival in rivals))
    assert [type(error) for error in raised] == [Closed] * (WRITERS - 1)


def test_it_lets_one_of_many_go_on_with_a_branch(recorder: Recorder, recorder_of: RecorderOf, trace: Trace) -> None:
    root = recorder.message(Actor.HUMAN, "Make a chart", turn=0)
    rivals = [recorder_of(head=root) for _ in range(WRITERS)]
    raised = at_once(*(lambda rival=rival: plan(rival, call("click")) for rival in rivals))
    assert [type(error) for error in raised] == [Fenced] * (WRITERS - 1)
    trace.refresh_from_db()
    assert (trace.next_seq, Event.objects.count()) == (4, 3)
