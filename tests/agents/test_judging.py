"""What a judge of branches costs is told in the trace, and counts for the run."""

import json
from typing import Any

import pytest

from agents import choosing
from agents.models import Branch, State, Task
from tests.providers.wire import WireServer
from tests.providers.wire.replies import message, text, use
from traces.models import Event
from traces.queries import totals

from .conftest import Submit
from .story import drive
from .test_branches import before_reply, child

pytestmark = pytest.mark.django_db(transaction=True)


def done() -> dict[str, Any]:
    return message(use("done", summary="It is written."))


def scored(score: float) -> dict[str, Any]:
    return message(text(json.dumps({"score": score, "reason": "It shows."})))


@pytest.fixture
def tied(submit_to_claude: Submit, wire: WireServer) -> Branch:
    """Two branches that both say they are done, and no check that tells them apart."""
    main = submit_to_claude(plan={"stop": "all", "judge": True})
    wire.will(message(use("bash", command="true")), done(), done())
    assert drive(main).state == State.SUCCEEDED
    assert child(main, "b1", before_reply(main, 1)).state == State.SUCCEEDED
    return main


def judges(branch: Branch) -> list[tuple[str, int]]:
    asked = Event.objects.filter(trace=branch.run.trace_id, name="judge").order_by("seq")
    return [(event.branch, event.tokens) for event in asked]


def test_it_counts_the_judge_of_each_branch(tied: Branch, wire: WireServer) -> None:
    before = totals(tied.run.trace_id).tokens
    wire.will(scored(0.2), scored(0.9))
    choosing.choose(tied.run)
    tied.run.refresh_from_db()
    assert tied.run.chosen
    assert tied.run.chosen.name == "b1"
    assert judges(tied) == [("main", 110), ("b1", 110)]
    assert totals(tied.run.trace_id).tokens == before + 220


def test_it_asks_no_judge_when_everything_is_spent(tied: Branch, wire: WireServer) -> None:
    Task.objects.filter(pk=tied.run.task_id).update(limits={"tokens": 100})
    tied.run.task.refresh_from_db()
    asked = len(wire.requests)
    choosing.choose(tied.run)
    tied.run.refresh_from_db()
    assert tied.run.chosen == tied
    assert (len(wire.requests), judges(tied)) == (asked, [])
