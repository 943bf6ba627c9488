"""A screen that a check found different is accepted on the trace's page."""

import pytest
from django.conf import settings
from django.test import Client

from agents.checkers.references import accept_reference, load_reference
from agents.models import Run, State
from godhand_web.models import User
from sandboxes.display.screen import Box
from tests.checkers.scenes import drawn
from traces.events import Finding, Outcome
from traces.models import Event

from .access_addresses import client_of, everybody
from .task_rows import recorder_of, run_in

pytestmark = pytest.mark.usefixtures("redis_url", "image")
CHECK = '[[check]]\nkind = "screen_region"\nname = "looks right"\nreference = "chart"'
RED = (255, 0, 0)
OFFER = "Accept this screen as the new reference"


@pytest.fixture
def run(owner: User) -> Run:
    return run_in(owner, State.PAUSED, steps=1, checks=CHECK)


def looked(run: Run, colour: tuple[int, int, int] = RED) -> int:
    """The step at which the check was shown a screen of that colour."""
    screen, recorder = drawn((Box(0, 0, 40, 40), colour)), recorder_of(run.branches.get())
    picture = recorder.picture(screen.encode("png"), "image/png", *screen.size)
    event = recorder.verify([Finding("looks right", "screen_region", Outcome.FAILED)], "done", picture=picture)
    return Event.objects.values_list("seq", flat=True).get(pk=event)


def accept(client: Client, run: Run, seq: int, check: str = "looks right") -> str:
    address = f"/traces/{run.trace_id}/steps/{seq}/reference/"
    return client.post(address, {"check": check}, follow=True).content.decode()


def test_it_accepts_the_screen_of_a_step_as_the_new_reference(as_owner: Client, run: Run) -> None:
    seq = looked(run)
    assert OFFER in as_owner.get(f"/traces/{run.trace_id}/?step={seq}").content.decode()
    assert "is the reference “chart” of this task from now on" in accept(as_owner, run, seq)
    reference = load_reference(settings.HOST.home / "references" / run.task_id, "chart")
    assert tuple(reference.screen.pixels[0, 0]) == RED
    assert reference.region == Box(0, 0, *reference.screen.size)


def test_it_keeps_the_part_that_counts_and_what_does_not(as_owner: Client, run: Run) -> None:
    store, part, clock = settings.HOST.home / "references" / run.task_id, Box(5, 5, 30, 30), Box(6, 6, 4, 4)
    accept_reference(store, "chart", drawn(), part, [clock])
    accept(as_owner, run, looked(run))
    reference = load_reference(store, "chart")
    assert tuple(reference.screen.pixels[0, 0]) == RED
    assert (reference.region, reference.excluded) == (part, (clock,))


def test_it_accepts_nothing_where_no_screen_was_compared(as_owner: Client, run: Run) -> None:
    seq = looked(run)
    for step, check in ((1, "looks right"), (seq, "another")):
        assert "no check of the task has compared" in accept(as_owner, run, step, check)
    assert not (settings.HOST.home / "references" / run.task_id).exists()


def test_it_offers_nothing_to_those_who_only_look(run: Run) -> None:
    page = client_of(everybody()["viewer"]).get(f"/traces/{run.trace_id}/?step={looked(run)}").content.decode()
    assert "looks right" in page
    assert OFFER not in page
