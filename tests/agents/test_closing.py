"""A worker that is told to stop lets its branch go between two acts, and the next one goes on from there."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from agents import closing
from agents.models import State
from tests.providers.wire import Request, WireServer
from tests.providers.wire.replies import action, message, use

from .conftest import Submit
from .story import actions, drive

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def open_again() -> Iterator[None]:
    yield
    closing.begun.clear()


def test_it_keeps_the_reply_that_it_waited_for_and_leaves_the_rest_to_the_next(
    submit_to_claude: Submit, wire: WireServer
) -> None:
    branch = submit_to_claude()

    def told_to_stop(_: Request) -> dict[str, Any]:
        closing.begun.set()
        return message(action("mouse_move", coordinate=[250, 250]))

    wire.will(told_to_stop)
    assert drive(branch).state == State.RUNNING
    assert branch.lease_until <= timezone.now()
    assert actions(branch) == [("mouse_move", "planned")]
    assert drive(branch).state == State.RUNNING, "a worker that stops takes nothing up"
    closing.begun.clear()
    wire.will(message(use("done", summary="Done.")))
    assert drive(branch).state == State.SUCCEEDED, branch.detail
    assert actions(branch) == [("mouse_move", "done"), ("done", "done")]
    assert len(wire.requests) == 2
