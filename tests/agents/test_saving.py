"""A snapshot that a person wants: of the moment at which the model is asked, told in the trace, and begun from."""

from typing import Any

import pytest
from django.db import connection

from agents import api, lifecycle, saving
from agents.models import Branch, State
from agents.points import on_path
from agents.wanted import TAKEN, want_snapshot, wanted
from sandboxes import forking
from sandboxes import lifecycle as machines
from sandboxes.models import Machine
from tests.providers.wire import Request, WireServer
from traces.models import Event
from traces.queries import head_of

from .conftest import Submit
from .story import drive
from .test_explore import done, saved, write

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _told_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's worker says that it has saved a machine, and has not."""

    def take(machine: Machine, label: str) -> None:
        saved(machine, label)
        machines.note(machine, TAKEN.format(label))

    monkeypatch.setattr(forking, "request_snapshot", take)


def labels(branch: Branch) -> list[str]:
    told = Event.objects.filter(trace=branch.run.trace_id, kind="snapshot").order_by("seq")
    return [event.data["label"] for event in told]


def test_it_is_taken_by_who_drives_when_the_model_is_asked_next(submit_to_claude: Submit, wire: WireServer) -> None:
    main = submit_to_claude()

    def wish(_: Request) -> dict[str, Any]:
        main.refresh_from_db()
        assert not want_snapshot(main, "as I like it")
        saving.save(main.pk)
        assert labels(main) == []
        connection.close()
        return write("a")

    wire.will(wish, write("b"), done())
    assert drive(main).state == State.SUCCEEDED
    assert labels(main) == ["as I like it"]
    head = head_of(main.run.trace_id, "main")
    assert head
    (point,) = on_path(main.run, head)
    after = Event.objects.get(pk=point.after)
    assert Event.objects.filter(trace=main.run.trace_id, kind="action", seq__lt=after.seq).count() == 1
    assert wanted(main.machine) == ""  # type: ignore[arg-type]


def test_it_is_taken_at_once_where_nobody_drives(submit_to_claude: Submit, wire: WireServer) -> None:
    main = submit_to_claude()
    wire.will(write("a"), done())
    drive(main)
    assert want_snapshot(main, "at last")
    assert want_snapshot(main, "and again")
    saving.save(main.pk)
    saving.save(main.pk)
    assert labels(main) == ["at last", "and again"]
    last = Event.objects.filter(trace=main.run.trace_id).latest("seq")
    start = api.start_from(main.run, last.seq)
    assert start
    assert (start.point.label, start.back) == ("and again", 0)


def test_it_is_not_told_of_when_somebody_goes_on_meanwhile(
    submit_to_claude: Submit, wire: WireServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = submit_to_claude()
    Branch.objects.filter(pk=main.pk).update(state=State.PAUSED)
    main.refresh_from_db()

    def take(machine: Machine, label: str) -> None:
        saved(machine, label)
        lifecycle.request_resume(main)
        Branch.objects.filter(pk=main.pk).update(fence=main.fence + 1)

    monkeypatch.setattr(forking, "request_snapshot", take)
    want_snapshot(main, "too late")
    saving.save(main.pk)
    assert labels(main) == []
    lifecycle.request_cancel(main)
